import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { CustomersService } from '../customers';
import { InvoiceCollectionService } from '../invoicing';
import { decideAbandon, decideDue } from './domain/decide';
import { decideExpiry } from './domain/decide-first-payment';
import { isAwaitingPayment } from './domain/first-payment';
import type { Outcome } from './domain/outcome';
import { periodsOverdue } from './domain/periods';
import type { Snapshot, Subscription } from './domain/subscription';
import { NEW_IDS, SubscriptionOutcomesService } from './subscription-outcomes.service';
import { subscriptionBehind } from './subscriptions.errors';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Pieces of due work that one request does: a year of months. The due worker does the others, each in its own commit. */
const MOST_AT_ONCE = 12;

interface Setup {
  /** Of subscriptions with due work. */
  readonly snapshots: readonly Snapshot[];
  /** Those of their customers that were not deleted. */
  readonly customerIds: ReadonlySet<string>;
  /** Those that wait for their first payment while one is under way. */
  readonly beingPaid: ReadonlySet<string>;
}

/**
 * Does what falls due for a subscription: its start, the end of its time for a first payment, the end of a period or of a
 * trial, a change that waited.
 */
@Injectable()
export class DueSubscriptionsService {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly customers: CustomersService,
    private readonly collection: InvoiceCollectionService,
    private readonly outcomes: SubscriptionOutcomesService,
  ) {}

  /**
   * Does the next piece of work that is due for each of these subscriptions, in their order and in one commit. A
   * subscription whose customer was deleted ends there. Nothing where somebody did it already: whoever locks the
   * subscription first does it, and the next finds it done.
   */
  runNext(ids: readonly string[], now: Date): Promise<void> {
    return this.database.transaction(async () => {
      const setup = await this.setup(ids, now);
      const decisions = setup.snapshots.map((snapshot) => ({
        before: snapshot.subscription,
        outcome: decide(snapshot, setup, now),
      }));
      await this.outcomes.applyAll(decisions, now);
    });
  }

  /** All that the decisions are made from, each kind with one statement. */
  private async setup(ids: readonly string[], now: Date): Promise<Setup> {
    const locked = await this.subscriptions.lockSnapshots(ids);
    const snapshots = locked.filter(({ subscription }) => isDue(subscription, now));
    const customerIds = await this.customers.existing(
      snapshots.map(({ subscription }) => subscription.customerId),
    );
    const waiting = snapshots.filter(({ subscription }) => isAwaitingPayment(subscription));
    const beingPaid = await this.collection.lockBeingPaid(
      waiting.map(({ subscription }) => subscription.id),
    );
    return { snapshots, customerIds, beingPaid };
  }

  /**
   * Does what is due of a subscription before a command acts on it, in the caller's transaction. It holds the series of
   * invoice numbers meanwhile, so it does a few periods at the most.
   * @returns the subscription as it is then
   * @throws {ProblemError} `subscription_behind` where more is due
   */
  async catchUp(subscription: Subscription, now: Date): Promise<Subscription> {
    if (periodsOverdue(subscription, now, MOST_AT_ONCE + 1) > MOST_AT_ONCE) {
      throw subscriptionBehind(subscription);
    }
    return this.runSome(subscription, now);
  }

  /** Does what is due, a few pieces at the most, in the caller's transaction; returns the subscription as it is then. */
  async runSome(subscription: Subscription, now: Date): Promise<Subscription> {
    this.database.requireTransaction();
    let latest = subscription;
    if (isDue(latest, now)) {
      await this.subscriptions.lockAll([latest.id]);
      await this.outcomes.lockForTurns([latest]);
    }
    for (let done = 0; done < MOST_AT_ONCE && isDue(latest, now); done += 1) {
      await this.runNext([latest.id], now);
      latest = (await this.subscriptions.find(latest.id)) ?? latest;
    }
    return latest;
  }
}

function decide(snapshot: Snapshot, { customerIds, beingPaid }: Setup, now: Date): Outcome {
  const { subscription } = snapshot;
  if (isAwaitingPayment(subscription)) {
    return decideExpiry(snapshot, beingPaid.has(subscription.id));
  }
  return customerIds.has(subscription.customerId)
    ? decideDue(snapshot, NEW_IDS, now)
    : decideAbandon(snapshot);
}

function isDue({ nextBillingAt }: Subscription, now: Date): boolean {
  return nextBillingAt !== null && nextBillingAt <= now;
}
