import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import type { Rational } from '../../core/decimal';
import type { Period } from '../../core/time';
import { type Meter, MetersService, UsageStore, type UsageWindow, UsageWindows } from '../metering';
import { eventPropertiesOf } from './domain/consumption-event';
import { type ResetWindow, spanOf } from './domain/reset-window';
import { consumptionRefused, entitlementNotConsumable } from './entitlements.errors';
import { HoldingWindowsRepository } from './holding-windows.repository';

/** What is consumed of an entitlement, as events of its meter. */
export interface ConsumptionEvents {
  readonly customerId: string;
  readonly meterId: string;
  /** The key of the entitlement. */
  readonly key: string;
  readonly now: Date;
  readonly events: readonly { readonly idempotencyKey: string; readonly quantity: Rational }[];
}

/** What meters count of customers, in the windows of their entitlements. */
@Injectable()
export class MeteredUsageService {
  private readonly known = new Map<string, Meter>();

  constructor(
    private readonly meters: MetersService,
    private readonly store: UsageStore,
    private readonly usage: UsageWindows,
    private readonly windows: HoldingWindowsRepository,
  ) {}

  /**
   * What a meter counts in a window, from now on moved by every event. Holds the stream of the meter until the caller's
   * transaction ends: in the order of locks it comes before what customers have.
   */
  async open(customerId: string, meterId: string, window: ResetWindow): Promise<Rational> {
    const opened = await this.hold(customerId, meterId, window);
    const [used] = await this.usage.read([opened]);
    invariant(used !== undefined && used !== null, 'a window that was opened is open');
    return used;
  }

  /** The same, without reading it. */
  async hold(customerId: string, meterId: string, window: ResetWindow): Promise<UsageWindow> {
    const held = { customerId, meter: await this.meterOf(meterId), period: spanOf(window) };
    await this.usage.open(held);
    return held;
  }

  /** Lets go of a window that nothing of the customer is counted by any more. */
  async close(customerId: string, meterId: string, window: ResetWindow): Promise<void> {
    const period = spanOf(window);
    if (await this.windows.isCountedBy(customerId, meterId, period)) return;
    await this.usage.close({ customerId, meter: await this.meterOf(meterId), period });
  }

  /** What a meter counts in a part of a window, read once. */
  async within(customerId: string, meterId: string, period: Period): Promise<Rational> {
    const part = { reset: 'never', ...period } as const;
    const used = await this.open(customerId, meterId, part);
    await this.close(customerId, meterId, part);
    return used;
  }

  /**
   * Stores what is consumed as events of the meter, in the caller's transaction, so that it is billed as well: all of
   * them, or it throws.
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
    invariant(accepted === events.length, 'What is consumed is stored once.');
  }

  /** What a meter counts never changes, so that it is read once. */
  private async meterOf(id: string): Promise<Meter> {
    const known = this.known.get(id);
    if (known !== undefined) return known;
    const meter = await this.meters.get(id);
    this.known.set(id, meter);
    return meter;
  }
}
