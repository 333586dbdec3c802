import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { changedAt, nextVersion } from '../../core/next-version';
import { Clock } from '../../platform/clock';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  revise,
  type VersionCondition,
} from '../../platform/database';
import { referenceNotFound, raise } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import {
  faultsOfMeter,
  MAX_METERS_PER_EVENT_NAME,
  type Meter,
  type MeterChange,
  type MeterStatus,
  type MeterTerms,
} from './domain/meter';
import {
  meterBackfilling,
  meterNotFound,
  meterTermsContradict,
  tooManyMeters,
} from './meters.errors';
import { meterActivated, meterArchived, meterCreated, meterUpdated } from './meters.events';
import { MetersRepository } from './meters.repository';

@Injectable()
export class MetersService {
  constructor(
    private readonly database: Database,
    private readonly meters: MetersRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @throws {ProblemError} `meter_terms_contradict` */
  assertTerms(terms: MeterTerms): void {
    const faults = faultsOfMeter(terms);
    if (faults.length > 0) throw meterTermsContradict(faults);
  }

  /**
   * Stores a new meter. The caller must have checked the terms with {@link assertTerms}, and must have locked the
   * creation of meters for this event name.
   * @param status `backfilling` if stored events remain to be counted, otherwise `active`
   * @param countedFromAt end of the archived months of this event name. The meter may not count earlier events. Null:
   *   no month is archived
   * @throws {ProblemError} `too_many_meters`, `meter_key_taken`
   */
  async create(terms: MeterTerms, status: MeterStatus, countedFromAt: Date | null): Promise<Meter> {
    this.database.requireTransaction();
    if ((await this.meters.countByEventName(terms.eventName)) >= MAX_METERS_PER_EVENT_NAME) {
      throw tooManyMeters(terms.eventName);
    }
    const now = this.clock.now();
    const meter: Meter = {
      ...terms,
      id: newId('meter'),
      version: 1,
      status,
      backfillCounted: 0,
      backfillTotal: 0,
      countedFromAt,
      archivedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await this.meters.insert(meter);
    await this.outbox.record(meterCreated, { after: meter, occurredAt: now });
    return meter;
  }

  /**
   * Returns the meter, archived or not.
   * @throws {ProblemError} `meter_not_found`
   */
  async get(id: string): Promise<Meter> {
    return (await this.meters.find(id)) ?? raise(meterNotFound(id));
  }

  /** Returns meters by id, including archived ones. Ids without a meter are left out. */
  async getAll(ids: readonly string[]): Promise<ReadonlyMap<string, Meter>> {
    if (ids.length === 0) return new Map();
    const found = await this.meters.findAll(ids);
    return new Map(found.map((meter) => [meter.id, meter]));
  }

  list(request: PageRequest): Promise<Page<Meter>> {
    return this.meters.page(request);
  }

  /** Returns the event names that have a meter, archived or not. */
  findMeteredEventNames(eventNames: readonly string[]): Promise<readonly string[]> {
    return this.meters.findEventNames(eventNames);
  }

  /**
   * Returns a meter and locks it against archiving until the caller's transaction ends.
   * @param pointer JSON pointer to the request field with the id
   * @throws {ProblemError} `reference_not_found` for an unknown or archived meter; `meter_backfilling` if earlier
   *   events are still being counted, because a price or entitlement would read incomplete totals
   */
  async requireForReference(id: string, pointer: string): Promise<Meter> {
    const meter = await this.meters.lock(id, 'reference');
    if (meter?.archivedAt !== null) throw referenceNotFound(pointer, id);
    if (meter.status !== 'active') throw meterBackfilling(id);
    return meter;
  }

  /**
   * Renames a meter, changes its policy for late events or merges its metadata. An update that changes nothing records
   * no event.
   * @throws {ProblemError} `meter_not_found`, `precondition_failed`, `metadata_too_large`
   */
  update(id: string, change: MeterChange, expected: VersionCondition): Promise<Meter> {
    return this.database.transaction(async () => {
      const before = (await this.meters.lock(id, 'change')) ?? raise(meterNotFound(id));
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = revise(before, change, now);
      if (after === before) return before;
      await this.meters.update(after);
      await this.outbox.recordChange(meterUpdated, { after, before }, now);
      return after;
    });
  }

  /**
   * Archives a meter. New prices and entitlements cannot refer to it, and no other meter can get its key. Existing
   * prices and entitlements continue to work, and the meter can still be read. Archiving an archived meter is a no-op.
   * @throws {ProblemError} `meter_not_found`, `precondition_failed`
   */
  archive(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const before = (await this.meters.lock(id, 'deletion')) ?? raise(meterNotFound(id));
      assertVersion(expected, before);
      if (before.archivedAt !== null) return;
      const now = changedAt(this.clock.now(), before);
      const after = revise(before, { archivedAt: now }, now);
      await this.meters.update(after);
      await this.outbox.record(meterArchived, { after, before, occurredAt: now });
    });
  }

  /** Stores the upper limit for the number of events that the backfill of a meter counts. */
  async setBackfillTotal(id: string, events: number): Promise<void> {
    await this.meters.setBackfillTotal(id, events);
  }

  async addBackfillCounted(id: string, events: number): Promise<void> {
    await this.meters.addBackfillCounted(id, events);
  }

  /**
   * Makes a meter `active` after its backfill has counted all earlier events.
   * @param countedFromAt end of the archived months of this event name. The meter may not count earlier events. Null:
   *   no month is archived
   */
  async activate(id: string, countedFromAt: Date | null): Promise<void> {
    const before = await this.meters.lock(id, 'change');
    invariant(before !== null, `The meter ${id} exists.`);
    const now = changedAt(this.clock.now(), before);
    const after: Meter = nextVersion(before, now, { status: 'active', countedFromAt });
    await this.meters.update(after);
    await this.outbox.record(meterActivated, { after, before, occurredAt: now });
  }
}
