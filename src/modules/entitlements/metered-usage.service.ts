import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import type { Rational } from '../../core/decimal';
import type { Period } from '../../core/time';
import {
  type IncomingEvent,
  type StreamName,
  UsageStore,
  type UsageWindow,
  UsageWindows,
} from '../metering';
import { type Meter, MetersService } from '../meters';
import type { ConsumptionRequest } from './domain/consumption';
import { eventPropertiesOf } from './domain/consumption-event';
import { type BalanceRecord, type BalanceRow, windowOf } from './domain/customer-entitlement';
import { type ResetWindow, spanOf } from './domain/reset-window';
import { consumptionRefused, entitlementNotConsumable } from './entitlements.errors';
import { BalanceWindowsRepository } from './balance-windows.repository';

/** Allowed consumptions of one balance, to be stored as usage events of its meter. */
export interface AllowedConsumptions {
  readonly record: BalanceRecord;
  readonly allowed: readonly ConsumptionRequest[];
}

/** Customer whose stream of a meter is to be locked. */
export interface MeteredCustomer {
  readonly customerId: string;
  /** Null: no stream. */
  readonly meterId: string | null;
}

/** Reads and writes metered usage in the reset windows of entitlements. */
@Injectable()
export class MeteredUsageService {
  private readonly metersById = new Map<string, Meter>();

  constructor(
    private readonly meters: MetersService,
    private readonly store: UsageStore,
    private readonly usage: UsageWindows,
    private readonly windows: BalanceWindowsRepository,
  ) {}

  /**
   * Opens a usage window and returns its usage; every event updates the window from then on. Locks the stream of the meter
   * until the transaction ends. The lock order is: stream, then balance.
   */
  async open(customerId: string, meterId: string, window: ResetWindow): Promise<Rational> {
    const opened = await this.register(customerId, meterId, window);
    const [used] = await this.usage.read([opened]);
    invariant(used !== undefined && used !== null, 'An opened window has a usage.');
    return used;
  }

  /** Opens a usage window like {@link open}, without reading its usage. */
  async register(customerId: string, meterId: string, window: ResetWindow): Promise<UsageWindow> {
    const usageWindow = { customerId, meter: await this.meterOf(meterId), period: spanOf(window) };
    await this.usage.open(usageWindow);
    return usageWindow;
  }

  /** Closes a usage window unless another balance of the customer still counts by it. */
  async close(customerId: string, meterId: string, window: ResetWindow): Promise<void> {
    const period = spanOf(window);
    if (await this.windows.hasBalanceIn(customerId, meterId, period)) return;
    await this.usage.close({ customerId, meter: await this.meterOf(meterId), period });
  }

  /** Returns the usage in a part of a window, without keeping that part open. */
  async readOnce(customerId: string, meterId: string, period: Period): Promise<Rational> {
    const part = { reset: 'never', ...period } as const;
    const used = await this.open(customerId, meterId, part);
    await this.close(customerId, meterId, part);
    return used;
  }

  /**
   * Locks the streams of customers until the transaction ends, without waiting.
   * @returns decides whether a balance counts by a window that is open in a locked stream
   */
  async tryLock(
    customers: readonly MeteredCustomer[],
  ): Promise<(record: BalanceRecord) => boolean> {
    const meters = new Map<string, Meter>();
    const streams: StreamName[] = [];
    for (const { customerId, meterId } of customers) {
      if (meterId === null) continue;
      const meter = meters.get(meterId) ?? (await this.meterOf(meterId));
      meters.set(meterId, meter);
      streams.push({ customerId, eventName: meter.eventName });
    }
    const isOpen = await this.usage.tryLock(streams);
    return ({ entitlement: { meterId }, row }) => {
      const [meter, window] = [meters.get(meterId ?? ''), windowOf(row)];
      if (meter === undefined || window === null) return false;
      return isOpen({ customerId: row.customerId, meter, period: spanOf(window) });
    };
  }

  /** Returns true if a meter counts exactly the quantity of each request. */
  async canAppend(meterId: string, requests: readonly ConsumptionRequest[]): Promise<boolean> {
    const meter = await this.meterOf(meterId);
    return requests.every(({ quantity }) => eventPropertiesOf(meter, quantity) !== null);
  }

  /**
   * Stores consumptions as usage events in the caller's transaction, so that they are billed as well. Stores all of them
   * or throws.
   * @throws {ProblemError} `entitlement_not_consumable`, `consumption_refused`
   */
  async append(consumed: readonly AllowedConsumptions[], now: Date): Promise<void> {
    const events: IncomingEvent[] = [];
    for (const { record, allowed } of consumed) {
      const { entitlement, row } = record;
      invariant(entitlement.meterId !== null, 'The entitlement has a meter.');
      const meter = await this.meterOf(entitlement.meterId);
      for (const { idempotencyKey, quantity } of allowed) {
        const properties = eventPropertiesOf(meter, quantity);
        if (properties === null) throw entitlementNotConsumable(entitlement.key, meter.key);
        events.push({
          index: events.length,
          idempotencyKey: eventKeyOf(row, idempotencyKey),
          customerId: row.customerId,
          eventName: meter.eventName,
          timestamp: now,
          properties,
        });
      }
    }
    const { accepted, rejected } = await this.store.append(events);
    const [refused] = rejected;
    if (refused !== undefined) throw consumptionRefused(refused.code, refused.message);
    invariant(accepted === events.length, 'Each consumption is stored as one event.');
  }

  /** Returns a meter from the cache. The fields used here never change. */
  private async meterOf(id: string): Promise<Meter> {
    const known = this.metersById.get(id);
    if (known !== undefined) return known;
    const meter = await this.meters.get(id);
    this.metersById.set(id, meter);
    return meter;
  }
}

/** Derives the key of the usage event from the consumption, hashed to fit the length of event keys. */
function eventKeyOf({ customerId, entitlementId }: BalanceRow, idempotencyKey: string): string {
  const named = [customerId, entitlementId, idempotencyKey].join(' ');
  return `consume-${hash('sha256', named, 'hex')}`;
}
