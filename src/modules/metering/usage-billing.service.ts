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
import { ALL_MISSING, type StreamName, streamKey, UsageStreams } from './store/usage-streams';
import {
  type BilledPeriod,
  type RepeatableBill,
  UsageBilledRepository,
} from './usage-billed.repository';

/** Fraction digits to which a stored quantity without a finite decimal form is rounded. Invoice lines are exact. */
const STORED_DIGITS = 18;

/** Billed usage of a subscription item in a period. */
export interface UsageBill {
  readonly customerId: string;
  readonly meter: Pick<Meter, 'id' | 'eventName'>;
  readonly itemId: string;
  readonly subscriptionId: string | null;
  readonly period: Period;
  /** Instant from which events were counted; before the start of the period if values carry over into the period. */
  readonly countedFrom: Date;
  /**
   * Stream position up to which events and voids were counted. The position is the number of an event, in commit order,
   * among those of one customer and event name.
   */
  readonly upToPosition: bigint;
  /** Data with which the period can be billed again, as JSON. */
  readonly terms: object;
  /**
   * Billed groups with their invoice lines; empty if there was no usage. `group` is `[]` if all groups are billed as
   * one.
   */
  readonly groups: readonly {
    readonly group: Group;
    readonly quantity: Rational;
    readonly events: bigint;
    readonly lineId: string | null;
  }[];
}

/** Usage to block until a transaction ends. None of its events can then be stored or voided. */
export interface UsageToBlock {
  /** Customers and event names whose events are blocked. */
  readonly events: readonly StreamName[];
  /** Customers whose events are all blocked. Exception: an event whose name the customer has not used before. */
  readonly customerIds: readonly string[];
}

/** Records billed usage. Events that arrive later for a billed period are late usage. */
@Injectable()
export class UsageBillingService {
  constructor(
    private readonly database: Database,
    private readonly streams: UsageStreams,
    private readonly billed: UsageBilledRepository,
    private readonly closedSubscriptions: ClosedSubscriptionsRepository,
    private readonly finalUsage: FinalUsageService,
  ) {}

  /**
   * Blocks storing and voiding of events until the transaction ends, so that exactly the usage that the caller reads is
   * billed. Locks the streams, and creates the streams of `events` that are missing. To avoid deadlocks with ingest,
   * call it before the transaction takes any other lock on usage.
   */
  async blockNewEvents({ events, customerIds }: UsageToBlock): Promise<void> {
    const names = new Map(events.map((name) => [streamKey(name), name]));
    if (customerIds.length > 0 || names.size > 0)
      await this.streams.lockAll(customerIds, [...names.values()]);
  }

  /** Like {@link blockNewEvents}, for all events of these customers. */
  async blockAllNewEvents(customerIds: readonly string[]): Promise<void> {
    await this.blockNewEvents({ events: [], customerIds });
  }

  /**
   * Returns the newest bill of each period that has late usage (stored or voided after the bill). Ordered by
   * subscription, then by start of the period.
   */
  late(subscriptionIds: readonly string[]): Promise<readonly RepeatableBill[]> {
    return this.billed.late(subscriptionIds);
  }

  /** Returns the newest bill of each of these periods. Ordered by subscription, then by start of the period. */
  newest(periods: readonly BilledPeriod[]): Promise<readonly RepeatableBill[]> {
    return this.billed.newest(periods);
  }

  /**
   * Marks billed periods, so that the next invoice bills the difference between their present usage and their billed
   * usage.
   */
  async reopen(periods: readonly BilledPeriod[]): Promise<void> {
    if (periods.length === 0) return;
    await this.billed.mark(periods, true);
    await this.finalUsage.planForPeriods(periods);
  }

  /**
   * Closes the usage of subscriptions. A separate invoice bills later changes, and late usage that is not on the last
   * invoice. Must be called in the transaction that makes the last invoices, after {@link blockNewEvents} or
   * {@link blockAllNewEvents}.
   */
  async close(subscriptions: Parameters<ClosedSubscriptionsRepository['close']>[0]): Promise<void> {
    if (subscriptions.length === 0) return;
    await this.closedSubscriptions.close(subscriptions);
    await this.finalUsage.planForClosed(subscriptions.map(({ id }) => id));
  }

  /**
   * Records bills, and clears the late-usage marks of their periods, because the bills include the late usage. Must be
   * called in the transaction that makes the invoice, after {@link blockNewEvents}.
   */
  async record(bills: readonly UsageBill[], now: Date): Promise<void> {
    this.database.requireTransaction();
    if (bills.length === 0) return;
    const names = bills.map(({ customerId, meter: { eventName } }) => ({ customerId, eventName }));
    const streams = await this.streams.lock(names, ALL_MISSING, 'wait');
    const periods = bills.map(({ itemId, period }) => ({ itemId, ...period }));
    await this.billed.mark(periods, false);
    await this.billed.insertAll(
      bills.flatMap((bill, index) => {
        const stream = streams[index] ?? 'busy';
        invariant(stream !== 'busy', 'Billed usage has a stream.');
        return rowsOf(bill).map(({ group, quantity, events, lineId }) => ({
          id: newId('ub'),
          streamId: stream.id,
          meterId: bill.meter.id,
          itemId: bill.itemId,
          periodStartAt: bill.period.startAt,
          periodEndAt: bill.period.endAt,
          countedFromAt: bill.countedFrom,
          groupKey: JSON.stringify(group),
          quantity: formatDecimal(quantity, STORED_DIGITS),
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

/** Returns the rows of a bill, one for each group. A period without usage has one row with the quantity 0. */
function rowsOf({ groups }: UsageBill): UsageBill['groups'] {
  const nothing = { numerator: 0n, denominator: 1n };
  return groups.length > 0 ? groups : [{ group: [], quantity: nothing, events: 0n, lineId: null }];
}
