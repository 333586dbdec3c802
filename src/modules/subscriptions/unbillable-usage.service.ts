import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { type Period, periodContaining } from '../../core/time';
import type { WindowEdge } from '../metering';
import { type CarryOver, unbillablePeriods } from './domain/unbillable';
import { BillableSpansRepository } from './billable-spans.repository';

/** Fields of a meter that determine how long its values carry over. */
export interface CarryingMeter {
  readonly id: string;
  readonly aggregation: string;
  readonly isRecurring: boolean;
}

@Injectable()
export class UnbillableUsageService {
  constructor(private readonly spans: BillableSpansRepository) {}

  /**
   * Returns, by customer id, the start of the earliest current period of the customer's subscriptions. Usage since this
   * start may still have to be billed. Earlier usage may still have to be billed on draft invoices, which this method
   * does not read. Leaves out customers whose subscriptions have all ended.
   */
  openSince(customerIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    return this.spans.openSince(customerIds);
  }

  /**
   * Returns when a usage window (the time in which usage counts against one allowance) may begin after a change of
   * plan: at the start of the subscription, of its current period, or of the local year. Archiving keeps the events of
   * the hours that contain these times. Leaves out ended subscriptions. Leaves out starts of the local month, week and
   * day, because only earlier months are archived.
   */
  async windowStarts(customerIds: readonly string[], now: Date): Promise<readonly WindowEdge[]> {
    const running = await this.spans.findRunning(customerIds);
    return running.flatMap(({ customerId, startAt, periodStartAt, timeZone }) =>
      [startAt, periodStartAt ?? startAt, yearStart(timeZone, now)].map((one) => ({
        customerId,
        at: one,
      })),
    );
  }

  /**
   * Returns the spans up to `now` in which no subscription of the customer bills the usage of a meter. A later change
   * of a subscription, such as a resume, can change these spans.
   */
  async unbillablePeriods(
    customerId: string,
    meter: CarryingMeter,
    now: Date,
  ): Promise<readonly Period[]> {
    const subscribed = await this.spans.findSubscribedSpans(customerId);
    const sold = await this.spans.findBillableSpans(customerId, meter.id);
    return unbillablePeriods(subscribed, sold, carryOverOf(meter), now);
  }
}

function carryOverOf({ aggregation, isRecurring }: CarryingMeter): CarryOver {
  if (aggregation !== 'weighted_sum') return 'none';
  return isRecurring ? 'for_ever' : 'period';
}

function yearStart(timeZone: string, at: Date): Date {
  const year = {
    mode: 'calendar',
    startAt: at,
    timeZone,
    interval: 'year',
    intervalCount: 1,
  } as const;
  const found = periodContaining(year, at);
  invariant(found !== undefined, 'A period that starts at an instant contains it.');
  return found.fullPeriod.startAt;
}
