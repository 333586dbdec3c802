import { Injectable } from '@nestjs/common';
import { formatDecimal, type Rational } from '../../core/decimal';
import { invariant } from '../../core/invariant';
import type { Period } from '../../core/time';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { ClosedSubscriptionsRepository } from './closed-subscriptions.repository';
import type { Group } from '../../core/usage';
import type { Meter } from '../meters';
import { FinalUsageService } from './final-usage.service';
import { UsageStreams } from './store/usage-streams';
import {
  type BilledPeriod,
  type LateUsage,
  UsageBilledRepository,
} from './usage-billed.repository';

/** Of a quantity that has no end as a decimal; its exact value is with the line. */
const DIGITS_KEPT = 18;

/** The usage of an item in a period, as it is billed. */
export interface UsageBill {
  readonly customerId: string;
  readonly meter: Pick<Meter, 'id' | 'eventName'>;
  readonly itemId: string;
  readonly subscriptionId: string | null;
  readonly period: Period;
  /** Of its reading. */
  readonly countedFrom: Date;
  readonly upToPosition: bigint;
  /** What the biller needs to bill the period again, as JSON. */
  readonly terms: object;
  /** Each with its line; the group is `[]` where all are billed together. */
  readonly groups: readonly {
    readonly group: Group;
    readonly quantity: Rational;
    readonly events: bigint;
    readonly lineId: string | null;
  }[];
}

/** Keeps what was billed of usage, for whoever bills. From then on an event that it counts is late. */
@Injectable()
export class UsageBillingService {
  constructor(
    private readonly database: Database,
    private readonly streams: UsageStreams,
    private readonly billed: UsageBilledRepository,
    private readonly closed: ClosedSubscriptionsRepository,
    private readonly finalUsage: FinalUsageService,
  ) {}

  /** Holds up events until the transaction ends, so that what is read is what is billed. */
  async hold(
    usage: readonly { readonly customerId: string; readonly eventName: string }[],
  ): Promise<void> {
    const names = new Map(usage.map((one) => [`${one.customerId} ${one.eventName}`, one]));
    await this.streams.hold([...names.values()], () => true, 'wait');
  }

  /** Holds up all events of customers until the transaction ends, whatever of their usage it comes to bill. */
  async holdAll(customerIds: readonly string[]): Promise<void> {
    await this.streams.holdAll(customerIds);
  }

  /** The periods of these subscriptions that were billed, and to which usage came since; oldest first. */
  late(subscriptionIds: readonly string[]): Promise<readonly LateUsage[]> {
    return this.billed.late(subscriptionIds);
  }

  /** Has the next invoice look at periods again: what it finds changed since they were billed, it bills as late. */
  async reopen(periods: readonly BilledPeriod[]): Promise<void> {
    await this.billed.mark(periods, true);
    await this.finalUsage.planForPeriods(periods);
  }

  /**
   * Closes the usage of subscriptions with their last invoice, in its transaction, which holds all usage of their customers:
   * what changes later is billed by an invoice of its own.
   */
  async close(subscriptions: Parameters<ClosedSubscriptionsRepository['close']>[0]): Promise<void> {
    await this.closed.close(subscriptions);
  }

  /** Writes what is billed, in the transaction of its invoice and of `hold`; what was late of it is billed with it. */
  async record(bills: readonly UsageBill[], now: Date): Promise<void> {
    this.database.requireTransaction();
    if (bills.length === 0) return;
    const names = bills.map(({ customerId, meter: { eventName } }) => ({ customerId, eventName }));
    const streams = await this.streams.hold(names, () => true, 'wait');
    const periods = bills.map(({ itemId, period }) => ({ itemId, ...period }));
    await this.billed.mark(periods, false);
    await this.billed.insertAll(
      bills.flatMap((bill, index) => {
        const stream = streams[index] ?? 'busy';
        invariant(stream !== 'busy', 'What is billed has its stream of events.');
        return rowsOf(bill).map(({ group, quantity, events, lineId }) => ({
          id: newId('ub'),
          streamId: stream.id,
          meterId: bill.meter.id,
          itemId: bill.itemId,
          periodStartAt: bill.period.startAt,
          periodEndAt: bill.period.endAt,
          countedFromAt: bill.countedFrom,
          groupKey: JSON.stringify(group),
          quantity: formatDecimal(quantity, DIGITS_KEPT),
          events: events.toString(),
          upToPosition: bill.upToPosition.toString(),
          invoiceLineId: lineId,
          subscriptionId: bill.subscriptionId,
          terms: bill.terms,
          isLate: false,
          createdAt: now,
        }));
      }),
    );
  }
}

/** A period without usage is billed as well. */
function rowsOf({ groups }: UsageBill): UsageBill['groups'] {
  const nothing = { numerator: 0n, denominator: 1n };
  return groups.length > 0 ? groups : [{ group: [], quantity: nothing, events: 0n, lineId: null }];
}
