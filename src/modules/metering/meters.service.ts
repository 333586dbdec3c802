import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { isWithinMetadataLimits, mergeMetadata } from '../../core/metadata';
import { Clock } from '../../platform/clock';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  type VersionCondition,
} from '../../platform/database';
import { metadataTooLarge, referenceNotFound } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Signals } from '../../platform/jobs';
import { Outbox } from '../../platform/outbox';
import { meterBackfilling } from '../catalog';
import { faultsOfMeter, type Meter, type MeterChange, type MeterTerms } from './domain/meter';
import { BACKFILL_WORK } from './meter-backfills';
import { meterNotFound, meterTermsContradict, tooManyMeters } from './meters.errors';
import { meterArchived, meterCreated, meterUpdated } from './meters.events';
import { MetersRepository } from './meters.repository';
import { BackfillMeters } from './store/backfill-meters';
import { MeterBackfillsRepository } from './store/meter-backfills.repository';
import { holdMaking } from './store/meters-lock';
import { UsageTotalsWriter } from './store/usage-totals-writer';

const MOST_METERS_OF_A_NAME = 50;

@Injectable()
export class MetersService {
  constructor(
    private readonly database: Database,
    private readonly meters: MetersRepository,
    private readonly totals: UsageTotalsWriter,
    private readonly backfilling: BackfillMeters,
    private readonly backfills: MeterBackfillsRepository,
    private readonly signals: Signals,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates a meter. Events that are stored from its commit on are counted as they are stored. Those that were stored before
   * are counted in the same commit if they are few and nobody is storing others, and by a backfill otherwise.
   * @throws {ProblemError} `meter_terms_contradict`, `too_many_meters`, `meter_key_taken`
   */
  async create(terms: MeterTerms): Promise<Meter> {
    const faults = faultsOfMeter(terms);
    if (faults.length > 0) throw meterTermsContradict(faults);
    return this.database.transaction(async () => {
      await holdMaking(this.database, terms.eventName);
      if ((await this.meters.countOf(terms.eventName)) >= MOST_METERS_OF_A_NAME) {
        throw tooManyMeters(terms.eventName);
      }
      const streams = await this.backfilling.tryHoldAll(terms.eventName);
      const now = this.clock.now();
      const meter: Meter = {
        ...terms,
        id: newId('meter'),
        version: 1,
        status: streams === null ? 'backfilling' : 'active',
        backfillCounted: 0,
        backfillTotal: 0,
        archivedAt: null,
        createdAt: now,
        updatedAt: now,
      };
      await this.meters.insert(meter);
      if (streams === null) await this.startBackfill(meter.id);
      else await this.totals.recount(meter.id, { streams, from: null, to: null });
      await this.outbox.record(meterCreated, { after: meter, occurredAt: now });
      return meter;
    });
  }

  /**
   * The meter, archived or not.
   * @throws {ProblemError} `meter_not_found`
   */
  async get(id: string): Promise<Meter> {
    const meter = await this.meters.find(id);
    if (meter === null) throw meterNotFound(id);
    return meter;
  }

  /** Meters by id, archived ones as well: what was sold goes on. What does not exist is left out. */
  async getAll(ids: readonly string[]): Promise<ReadonlyMap<string, Meter>> {
    if (ids.length === 0) return new Map();
    const found = await this.meters.findAll(ids);
    return new Map(found.map((meter) => [meter.id, meter]));
  }

  list(request: PageRequest): Promise<Page<Meter>> {
    return this.meters.page(request);
  }

  /**
   * The meter that a field of a request refers to. It cannot be archived until the caller's transaction ends.
   * @param pointer JSON pointer to the field
   * @throws {ProblemError} `reference_not_found`, also for an archived one; `meter_backfilling`, so that no price or
   *   entitlement reads incomplete totals
   */
  async requireForReference(id: string, pointer: string): Promise<Meter> {
    const meter = await this.meters.lock(id, 'reference');
    if (meter?.archivedAt !== null) throw referenceNotFound(pointer, id);
    if (meter.status !== 'active') throw meterBackfilling(id);
    return meter;
  }

  /**
   * Renames a meter, changes its policy for late events or merges its metadata; what it counts never changes. What leaves
   * it as it was changes nothing and tells nobody.
   * @throws {ProblemError} `meter_not_found`, `precondition_failed`, `metadata_too_large`
   */
  update(id: string, change: MeterChange, expected: VersionCondition): Promise<Meter> {
    return this.database.transaction(async () => {
      const before = await this.meters.lock(id, 'change');
      if (before === null) throw meterNotFound(id);
      assertVersion(expected, before);
      const after = this.changed(before, change);
      if (after === before) return before;
      await this.meters.update(after);
      await this.outbox.record(meterUpdated, { after, before, occurredAt: after.updatedAt });
      return after;
    });
  }

  /**
   * Archives a meter: no price or entitlement made from now on can refer to it. It counts on for those that do, and can be
   * read; its key stays taken. Archiving it again changes nothing.
   * @throws {ProblemError} `meter_not_found`, `precondition_failed`
   */
  archive(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const before = await this.meters.lock(id, 'removal');
      if (before === null) throw meterNotFound(id);
      assertVersion(expected, before);
      if (before.archivedAt !== null) return;
      const now = this.clock.now();
      const after = { ...before, archivedAt: now, version: before.version + 1, updatedAt: now };
      await this.meters.update(after);
      await this.outbox.record(meterArchived, { after, before, occurredAt: now });
    });
  }

  private async startBackfill(meterId: string): Promise<void> {
    await this.backfills.insert(meterId);
    this.database.afterCommit(() => this.signals.announce(BACKFILL_WORK));
  }

  private changed(before: Meter, change: MeterChange): Meter {
    const name = change.name ?? before.name;
    const lateEvents = change.lateEvents ?? before.lateEvents;
    const metadata = mergeMetadata(before.metadata, change.metadata);
    if (!isWithinMetadataLimits(metadata)) throw metadataTooLarge();
    const same =
      name === before.name &&
      lateEvents === before.lateEvents &&
      isDeepStrictEqual(metadata, before.metadata);
    if (same) return before;
    return {
      ...before,
      name,
      lateEvents,
      metadata,
      version: before.version + 1,
      updatedAt: this.clock.now(),
    };
  }
}
