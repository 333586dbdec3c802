import { Injectable } from '@nestjs/common';
import type { Period } from '../../core/time';
import { type CarryOver, unbillableTimes } from './domain/unbillable';
import { SoldUsageRepository } from './sold-usage.repository';

/** Fields of a meter that decide how long its values carry over. */
export interface CarryingMeter {
  readonly id: string;
  readonly aggregation: string;
  readonly isRecurring: boolean;
}

/** Tells which usage no subscription bills. */
@Injectable()
export class SoldUsageService {
  constructor(private readonly soldUsage: SoldUsageRepository) {}

  /**
   * Returns, by customer, the start of the earliest period whose usage is not billed yet. Leaves out customers without a
   * running subscription.
   */
  openSince(customerIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    return this.soldUsage.openSince(customerIds);
  }

  /**
   * Returns the spans in which usage of a meter is not billed by any subscription of the customer, unless something changes.
   */
  async unbillableTimes(
    customerId: string,
    meter: CarryingMeter,
    now: Date,
  ): Promise<readonly Period[]> {
    const subscribed = await this.soldUsage.subscribed(customerId);
    const sold = await this.soldUsage.sold(customerId, meter.id);
    return unbillableTimes(subscribed, sold, carryOverOf(meter), now);
  }
}

function carryOverOf({ aggregation, isRecurring }: CarryingMeter): CarryOver {
  if (aggregation !== 'weighted_sum') return 'none';
  return isRecurring ? 'for_ever' : 'period';
}
