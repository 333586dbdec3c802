import { Injectable } from '@nestjs/common';
import { changedAt, nextVersion } from '../../../core/next-version';
import { raise } from '../../../platform/errors';
import { assertVersion, Database, type VersionCondition } from '../../../platform/database';
import { Outbox } from '../../../platform/outbox';
import { DueInvoicesRepository } from '../../invoicing';
import {
  commandTime,
  decideEndOfDeletedCustomer,
  decideDue,
  decideExpiry,
  type DueSubscription,
  isAwaitingPayment,
  type Outcome,
  periodsOverdue,
  type Snapshot,
  type Subscription,
  SUBSCRIPTION_IDS,
  SUBSCRIPTION_RENEWAL_FAILED,
  subscriptionBehind,
  subscriptionCustomerDeleted,
  subscriptionNotFound,
  SubscriptionsRepository,
} from '../../subscriptions';
import { BillingLocks, type CustomerAt } from '../billing-locks';
import { RefundedAmounts } from '../refunded-amounts';
import { ApplyOutcomesWorkflow } from './apply-outcomes.workflow';

/** Maximum number of overdue periods of a subscription that still accepts a command: a year of monthly renewals. */
const MAX_PERIODS_PER_REQUEST = 12;

/**
 * Maximum number of pieces of due work that one request does for a subscription: its start, the notice that its trial
 * ends, and its renewals. Background work does the rest, one piece per commit.
 */
const MAX_STEPS_PER_REQUEST = MAX_PERIODS_PER_REQUEST + 2;

export interface CurrentSubscription extends CustomerAt {
  readonly snapshot: Snapshot;
}

interface DueSubscriptionsRead {
  readonly snapshots: readonly Snapshot[];
  /** Ids of the subscriptions' customers who are not deleted. */
  readonly customerIds: ReadonlySet<string>;
  /** Ids of the subscriptions whose first payment is pending at the provider. */
  readonly beingPaid: ReadonlySet<string>;
}

/**
 * Does the due work of subscriptions: starts, ends of trials, renewals, scheduled changes and ends, and the expiry of
 * subscriptions without a first payment.
 *
 * 1. Locks the customers that are not deleted, then the subscriptions with due work.
 * 2. Locks the invoices of subscriptions that wait for their first payment, and reads which of these subscriptions have
 *    a pending payment.
 * 3. Decides what changes for each subscription. The subscription of a deleted customer ends.
 * 4. Writes all changes, with one statement for each kind of row.
 */
@Injectable()
export class RenewSubscriptionsWorkflow {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly dueInvoices: DueInvoicesRepository,
    private readonly locks: BillingLocks,
    private readonly refundedAmounts: RefundedAmounts,
    private readonly outcomes: ApplyOutcomesWorkflow,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Does the next piece of due work of each of these subscriptions, in the given order and in one commit. Skips work
   * that another process has done meanwhile.
   */
  runNext(ids: readonly string[], now: Date): Promise<void> {
    return this.database.transaction(async () => {
      const setup = await this.setup(ids, now);
      const decisions = setup.snapshots.map((snapshot) => ({
        before: snapshot.subscription,
        outcome: withoutFailure(decide(snapshot, setup, now)),
      }));
      await this.outcomes.applyAll(decisions, now);
    });
  }

  /**
   * Ends a deleted customer's paused subscriptions whose period is over. Renewals would not end them, because a paused
   * subscription is not renewed. The caller's transaction has locked the customer.
   */
  async endPaused(customerId: string, now: Date): Promise<void> {
    const found = await this.subscriptions.findRunning(customerId);
    const paused = found.filter(({ status }) => status === 'paused');
    const locked = await this.subscriptions.lockSnapshots(paused.map(({ id }) => id));
    const decisions = locked
      .filter(({ subscription }) => subscription.status === 'paused')
      .filter(({ period }) => period?.isClosed === true)
      .map((snapshot) => ({
        before: snapshot.subscription,
        outcome: decideEndOfDeletedCustomer(snapshot, now),
      }));
    if (decisions.length > 0) await this.outcomes.applyAll(decisions, now);
  }

  /**
   * Records that the due work of a subscription was refused: stores the code of the error on the subscription. Records
   * an event at the first failure, and again whenever the code changes. A no-op if the work was done meanwhile.
   */
  recordFailure(
    { id, dueAt }: Pick<DueSubscription, 'id' | 'dueAt'>,
    code: string,
    now: Date,
  ): Promise<void> {
    return this.database.transaction(async () => {
      const before = await this.subscriptions.lock(id);
      if (before?.nextBillingAt?.getTime() !== dueAt.getTime()) return;
      if (before.renewalFailureCode === code) return;
      const after = nextVersion(before, now, {
        renewalFailedAt: before.renewalFailedAt ?? now,
        renewalFailureCode: code,
      });
      await this.subscriptions.updateRenewalFailure(after);
      const occurredAt = changedAt(now, before);
      await this.outbox.record(SUBSCRIPTION_RENEWAL_FAILED, { after, before, occurredAt });
    });
  }

  private async setup(ids: readonly string[], now: Date): Promise<DueSubscriptionsRead> {
    const customerIds = await this.subscriptions.lockCustomersOf(ids);
    const locked = await this.subscriptions.lockSnapshots(ids);
    const snapshots = locked.filter(({ subscription }) => isDue(subscription, now));
    const waiting = snapshots.filter(({ subscription }) => isAwaitingPayment(subscription));
    const beingPaid = await this.dueInvoices.lockBeingPaid(
      waiting.map(({ subscription }) => subscription.id),
    );
    return { snapshots, customerIds, beingPaid };
  }

  /**
   * Locks a subscription for a command, in the caller's transaction. First does its due work, so that the command acts
   * on the current period. The returned time is never before the last change of the subscription ({@link changedAt},
   * {@link commandTime}), which a process with a faster clock may have made.
   *
   * Refuses too much due work, because each renewal locks the series of invoice numbers until the commit:
   * - more than {@link MAX_PERIODS_PER_REQUEST} overdue periods. If background work has failed on the subscription,
   *   tries the due work nevertheless, because its error says why.
   * - work that is still due after {@link MAX_STEPS_PER_REQUEST} pieces.
   * @param expected condition on the version of the subscription, checked after the due work is done
   * @throws {ProblemError} `subscription_not_found`, `subscription_customer_deleted`, `subscription_behind` if too much
   *   work is due, `precondition_failed`, `test_clock_advancing`, `test_clock_failed`, and the errors of
   *   `ApplyOutcomesWorkflow.applyAll`
   */
  async lockCurrent(id: string, expected: VersionCondition = 'any'): Promise<CurrentSubscription> {
    const found = (await this.subscriptions.find(id)) ?? raise(subscriptionNotFound(id));
    const { customer, now: readAt } =
      (await this.locks.lockCustomer(found.customerId)) ?? raise(subscriptionNotFound(id));
    if (customer.deletedAt !== null) throw subscriptionCustomerDeleted(id);
    const current = (await this.subscriptions.lock(id)) ?? raise(subscriptionNotFound(id));
    const now = changedAt(readAt, current);
    const overdue = periodsOverdue(current, now, MAX_PERIODS_PER_REQUEST + 1);
    if (overdue > MAX_PERIODS_PER_REQUEST && current.renewalFailureCode === null)
      throw subscriptionBehind(current);
    if (isDue(current, now)) await this.lockBeforeDueWork(current, now);
    const latest = await this.runDueWork(current, now);
    if (isDue(latest, now)) throw subscriptionBehind(current);
    const snapshot = (await this.subscriptions.lockSnapshot(id)) ?? raise(subscriptionNotFound(id));
    assertVersion(expected, snapshot.subscription);
    return { snapshot, customer, now: commandTime(snapshot, now) };
  }

  /**
   * Does at most {@link MAX_STEPS_PER_REQUEST} pieces of due work of a subscription that the caller's transaction has
   * locked or created. The caller has called {@link BillingLocks.lockBeforeInvoices} if several invoices may be due.
   * Returns the changed subscription.
   */
  async runDueWork(subscription: Subscription, now: Date): Promise<Subscription> {
    let latest = subscription;
    for (let done = 0; done < MAX_STEPS_PER_REQUEST && isDue(latest, now); done += 1) {
      await this.runNext([latest.id], now);
      latest = (await this.subscriptions.find(latest.id)) ?? latest;
    }
    return latest;
  }

  /**
   * Locks payments, then the access version, usage and credit, before the due work of a subscription makes its first
   * invoice. Payments come before credit, and the due work or the command can credit what is paid already, correct billed
   * usage, or credit a new invoice that used credit. Does nothing for an expiry, which locks its own payments first.
   */
  private async lockBeforeDueWork(subscription: Subscription, now: Date): Promise<void> {
    if (isAwaitingPayment(subscription)) return;
    const { id, customerId, nextBillingAt } = subscription;
    const items = (await this.subscriptions.lockSnapshot(id))?.items ?? [];
    const unusedFrom = nextBillingAt ?? now;
    const credits = items.map((item) => ({ itemId: item.id, unusedFrom }));
    await this.refundedAmounts.lockWithCredit({ credits, subscriptionIds: [id] }, customerId);
    await this.locks.lockBeforeInvoices([subscription]);
  }
}

function decide(
  snapshot: Snapshot,
  { customerIds, beingPaid }: DueSubscriptionsRead,
  now: Date,
): Outcome {
  const { subscription } = snapshot;
  if (isAwaitingPayment(subscription)) {
    return decideExpiry(snapshot, beingPaid.has(subscription.id));
  }
  return customerIds.has(subscription.customerId)
    ? decideDue(snapshot, SUBSCRIPTION_IDS, now)
    : decideEndOfDeletedCustomer(snapshot, now);
}

function withoutFailure(outcome: Outcome): Outcome {
  const subscription = { ...outcome.subscription, renewalFailedAt: null, renewalFailureCode: null };
  return { ...outcome, subscription };
}

function isDue({ nextBillingAt }: Subscription, now: Date): boolean {
  return nextBillingAt !== null && nextBillingAt <= now;
}
