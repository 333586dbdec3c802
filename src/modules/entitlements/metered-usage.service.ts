import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import type { Rational } from '../../core/decimal';
import type { Period } from '../../core/time';
import { UsageStore, type UsageWindow, UsageWindows } from '../metering';
import { type Meter, MetersService } from '../meters';
import { eventPropertiesOf } from './domain/consumption-event';
import { type ResetWindow, spanOf } from './domain/reset-window';
import { consumptionRefused, entitlementNotConsumable } from './entitlements.errors';
import { BalanceWindowsRepository } from './balance-windows.repository';

/** Consumptions of one entitlement, to be stored as usage events of its meter. */
export interface ConsumptionEvents {
  readonly customerId: string;
  readonly meterId: string;
  /** Key of the entitlement. */
  readonly key: string;
  readonly now: Date;
  readonly events: readonly { readonly idempotencyKey: string; readonly quantity: Rational }[];
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
   * Stores consumptions as usage events in the caller's transaction, so that they are billed as well. Stores all of them
   * or throws.
   * @throws {ProblemError} `entitlement_not_consumable`, `consumption_refused`
   */
  async append({ customerId, meterId, key, now, events }: ConsumptionEvents): Promise<void> {
    const meter = await this.meterOf(meterId);
    const { accepted, rejected } = await this.store.append(
      events.map(({ idempotencyKey, quantity }, index) => {
        const properties = eventPropertiesOf(meter, quantity);
        if (properties === null) throw entitlementNotConsumable(key, meter.key);
        const { eventName } = meter;
        return { index, idempotencyKey, customerId, eventName, timestamp: now, properties };
      }),
    );
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
