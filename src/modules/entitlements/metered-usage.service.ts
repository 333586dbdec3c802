import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { type Rational, rational } from '../../core/decimal';
import type { Period } from '../../core/time';
import { BoundedMap } from '../../platform/caching';
import { UsageStore, UsageStreams, UsageWindows } from '../metering';
import { type Meter, MetersService } from '../meters';
import { asStored } from './decimal-column';
import type { ConsumptionRequest } from './domain/consumption';
import { eventPropertiesOf } from './domain/consumption-event';
import { type BalanceRecord, type BalanceRow } from './domain/customer-entitlement';
import { type ResetWindow, spanOf } from './domain/reset-window';
import { consumptionRefused, entitlementNotConsumable } from './entitlements.errors';
import { BalanceWindowsRepository } from './balance-windows.repository';

const ONE = rational(1n);
/** Maximum number of cached meters. Each meter takes at most about 30 kB, mostly for its metadata. */
const MAX_CACHED_METERS = 2_000;

export interface ConsumptionEvent {
  readonly idempotencyKey: string;
  readonly properties: Readonly<Record<string, string>>;
}

@Injectable()
export class MeteredUsageService {
  private readonly metersById = new BoundedMap<string, Meter>(MAX_CACHED_METERS);

  constructor(
    private readonly meters: MetersService,
    private readonly store: UsageStore,
    private readonly usage: UsageWindows,
    private readonly streams: UsageStreams,
    private readonly windows: BalanceWindowsRepository,
  ) {}

  /**
   * Opens a usage window (a running total of a meter, which later events update) and returns its usage. Locks the
   * stream of the meter (the usage events of one name of the customer) until the transaction ends.
   */
  open(customerId: string, meterId: string, window: ResetWindow): Promise<Rational> {
    const period = spanOf(window);
    return this.openPart(customerId, meterId, period, period.endAt);
  }

  /**
   * Requires that the usage of a window can be counted exactly. Fails if archiving has removed events that the window
   * needs. A window that is already open can always be counted.
   * @throws {ProblemError} `usage_archived`
   */
  async requireCountable(customerId: string, meterId: string, window: ResetWindow): Promise<void> {
    const meter = await this.meterOf(meterId);
    await this.usage.requireCountable({ customerId, meter, period: spanOf(window) });
  }

  /** Closes a usage window unless another balance of the customer still uses it. */
  async close(
    customerId: string,
    meterId: string,
    window: Pick<ResetWindow, 'startAt' | 'endAt'>,
  ): Promise<void> {
    const period = spanOf(window);
    if (await this.windows.hasBalanceIn(customerId, meterId, period)) return;
    await this.usage.close({ customerId, meter: await this.meterOf(meterId), period });
  }

  /**
   * Locks the stream of a meter (the usage events of one name of the customer) until the transaction ends. A
   * transaction that also locks a balance must lock the stream first.
   */
  async lockStream(customerId: string, meterId: string): Promise<void> {
    await this.streams.lockOne({ customerId, eventName: await this.eventNameOf(meterId) });
  }

  /**
   * Invalidates the cached state of a meter's stream (the usage events of one name of the customer). Must be called
   * when a balance begins to use a usage window. Opening the window is not enough, because opening an open window
   * invalidates nothing.
   */
  async invalidateStream(customerId: string, meterId: string): Promise<void> {
    await this.streams.invalidate({ customerId, eventName: await this.eventNameOf(meterId) });
  }

  /** Returns the usage in the part of a window before `at`. Opens a usage window for this part, and closes it again. */
  async readUntil(
    customerId: string,
    meterId: string,
    window: ResetWindow,
    at: Date,
  ): Promise<Rational> {
    const part = { startAt: window.startAt, endAt: at };
    const used = await this.openPart(customerId, meterId, part, spanOf(window).endAt);
    await this.close(customerId, meterId, part);
    return used;
  }

  async eventNameOf(meterId: string): Promise<string> {
    return (await this.meterOf(meterId)).eventName;
  }

  /** Returns true if the meter can count the quantity of each request exactly, or if there is no meter. */
  async countsAll(
    { entitlement: { meterId } }: BalanceRecord,
    requests: readonly ConsumptionRequest[],
  ): Promise<boolean> {
    if (meterId === null) return true;
    const meter = await this.meterOf(meterId);
    return requests.every(({ quantity }) => eventPropertiesOf(meter, quantity) !== null);
  }

  /**
   * Refuses consumption of an entitlement whose meter cannot count any quantity. Tests only the quantity 1, because a
   * meter that cannot count 1 cannot count any other quantity either.
   * @throws {ProblemError} `entitlement_not_consumable`
   */
  async requireConsumable({ entitlement: { key, meterId } }: BalanceRecord): Promise<void> {
    if (meterId === null) return;
    const meter = await this.meterOf(meterId);
    if (eventPropertiesOf(meter, ONE) === null) throw entitlementNotConsumable(key, meter.key);
  }

  /**
   * Returns one usage event for each request. Returns an empty list if the entitlement has no meter. Returns null if
   * the meter cannot count the quantity of one of the requests exactly.
   */
  async eventsOf(
    { entitlement: { meterId }, row }: BalanceRecord,
    requests: readonly ConsumptionRequest[],
  ): Promise<readonly ConsumptionEvent[] | null> {
    if (meterId === null) return [];
    const meter = await this.meterOf(meterId);
    const events: ConsumptionEvent[] = [];
    for (const { idempotencyKey, quantity } of requests) {
      const properties = eventPropertiesOf(meter, quantity);
      if (properties === null) return null;
      events.push({ idempotencyKey: eventKeyOf(row, idempotencyKey), properties });
    }
    return events;
  }

  /**
   * Stores allowed consumption requests as usage events in the caller's transaction, so that the consumed quantities
   * are also billed. Stores all of them, or throws an error.
   * @throws {ProblemError} `entitlement_not_consumable`, `consumption_refused`
   */
  async append(
    record: BalanceRecord,
    allowed: readonly ConsumptionRequest[],
    now: Date,
  ): Promise<void> {
    const { entitlement, row } = record;
    invariant(entitlement.meterId !== null, 'The entitlement has a meter.');
    const meter = await this.meterOf(entitlement.meterId);
    const events = await this.eventsOf(record, allowed);
    if (events === null) throw entitlementNotConsumable(entitlement.key, meter.key);
    const { customerId } = row;
    const { eventName } = meter;
    const { accepted, rejected } = await this.store.append(
      events.map((event, index) => ({ ...event, index, customerId, eventName, timestamp: now })),
    );
    const [refused] = rejected;
    if (refused !== undefined) throw consumptionRefused(refused.code, refused.message);
    if (accepted < events.length) {
      const message = 'A usage event already has the key under which this consumption is stored.';
      throw consumptionRefused('idempotency_key_reused', message);
    }
  }

  /**
   * Opens a usage window for a period and returns its usage, rounded to the digits that a balance stores.
   * @param period the whole window, or the first part of it
   * @param heldUntil end of the whole window. The aggregation `weighted_sum` counts its last value until then.
   */
  private async openPart(
    customerId: string,
    meterId: string,
    period: Period,
    heldUntil: Date,
  ): Promise<Rational> {
    const opened = { customerId, meter: await this.meterOf(meterId), period };
    await this.usage.open(opened);
    const [used] = await this.usage.read([{ ...opened, heldUntil }]);
    invariant(used !== undefined && used !== null, 'An opened window has a usage.');
    return asStored(used);
  }

  /**
   * Returns the meter, from a cache if possible. The fields used here never change, so a cached meter is never
   * outdated.
   */
  private async meterOf(id: string): Promise<Meter> {
    const known = this.metersById.get(id);
    if (known !== undefined) return known;
    const meter = await this.meters.get(id);
    this.metersById.set(id, meter);
    return meter;
  }
}

/**
 * Returns the idempotency key of the usage event for a consumption: a hash, because such keys have a maximum length.
 */
function eventKeyOf({ customerId, entitlementId }: BalanceRow, idempotencyKey: string): string {
  const named = [customerId, entitlementId, idempotencyKey].join(' ');
  return `consume-${hash('sha256', named, 'hex')}`;
}
