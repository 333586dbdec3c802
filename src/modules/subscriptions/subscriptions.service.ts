import { Injectable } from '@nestjs/common';
import { isTerminal } from '../../core/states';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { invalidTransition, type ProblemError } from '../../platform/errors';
import { RedemptionsService } from '../coupons';
import { type Customer, customerCurrencyMismatch, CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import { redemptionOf } from './create-subscription.service';
import type { CancelSubscription, ChangeSubscription } from './domain/commands';
import { decideEnd } from './domain/decide';
import {
  changeRefusal,
  type CommandRefusal,
  decideChangeAtEnd,
  decideChangeNow,
  decidePause,
  decideResume,
  decideSchedule,
  decideUndo,
  pauseRefusal,
  transitionRefusal,
} from './domain/decide-command';
import { decideGiveUp } from './domain/decide-first-payment';
import { isAwaitingPayment } from './domain/first-payment';
import { isNoOp, outcomeOf, type Outcome } from './domain/outcome';
import {
  type ScheduledChange,
  type Snapshot,
  type Subscription,
  SUBSCRIPTION_TRANSITIONS,
} from './domain/subscription';
import type { SubscriptionPreview } from './subscription-preview';
import { DueSubscriptionsService } from './due-subscriptions.service';
import { OffersService } from './offers.service';
import { NEW_IDS, SubscriptionOutcomesService } from './subscription-outcomes.service';
import { SubscriptionStandingService } from './subscription-standing.service';
import {
  scheduledChangeNotFound,
  subscriptionChangePending,
  subscriptionCustomerDeleted,
  subscriptionNotCanceling,
  subscriptionNotFound,
  subscriptionNotRunning,
  subscriptionTermsContradict,
} from './subscriptions.errors';
import { type SubscriptionFilter, SubscriptionsRepository } from './subscriptions.repository';

/** A decision with what it was made from. */
interface Decided {
  readonly outcome: Outcome;
  readonly snapshot: Snapshot;
  readonly customer: Customer;
  readonly now: Date;
}

type Decide = (snapshot: Snapshot, now: Date) => Promise<Outcome> | Outcome;

/** What happens to subscriptions once they are there. Each command has a preview: the same, stopped before it is applied. */
@Injectable()
export class SubscriptionsService {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly offers: OffersService,
    private readonly redemptions: RedemptionsService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly outcomes: SubscriptionOutcomesService,
    private readonly due: DueSubscriptionsService,
    private readonly standing: SubscriptionStandingService,
  ) {}

  /** @throws {ProblemError} `subscription_not_found` */
  async get(id: string): Promise<Subscription> {
    const subscription = await this.subscriptions.find(id);
    if (subscription === null) throw subscriptionNotFound(id);
    return subscription;
  }

  list(filter: SubscriptionFilter, request: PageRequest): Promise<Page<Subscription>> {
    return this.subscriptions.page(filter, request);
  }

  /** Subscriptions of a customer that have not ended, oldest first. */
  runningOf(customerId: string): Promise<readonly Subscription[]> {
    return this.subscriptions.runningOf(customerId);
  }

  /**
   * What waits or waited for its time, newest first.
   * @throws {ProblemError} `subscription_not_found`
   */
  async scheduledChanges(id: string, request: PageRequest): Promise<Page<ScheduledChange>> {
    await this.get(id);
    return this.subscriptions.scheduledChanges(id, request);
  }

  /**
   * Changes plan, version, quantity or add-ons, now or at the end of the period. A change to what the subscription has
   * already is a no-op: it writes nothing and emits no event.
   * @throws {ProblemError} `subscription_not_found`, `subscription_not_running`, `subscription_change_pending`,
   *   `reference_not_found`, `customer_currency_mismatch`, `subscription_terms_contradict`
   */
  change(id: string, command: ChangeSubscription): Promise<Subscription> {
    return this.apply(id, this.toChange(command));
  }

  /** The next invoice after `change`; throws what it throws. */
  previewChange(id: string, command: ChangeSubscription): Promise<SubscriptionPreview> {
    return this.preview(id, this.toChange(command));
  }

  /**
   * Ends a subscription now, at the end of the period or at an instant, with or without credit for what is unused.
   * @throws {ProblemError} `subscription_not_found`, `invalid_transition`, `subscription_not_running`,
   *   `subscription_change_pending`, `subscription_terms_contradict`
   */
  cancel(id: string, command: CancelSubscription): Promise<Subscription> {
    return this.apply(id, toCancel(command));
  }

  /** The next invoice after `cancel`; throws what it throws. */
  previewCancel(id: string, command: CancelSubscription): Promise<SubscriptionPreview> {
    return this.preview(id, toCancel(command));
  }

  /**
   * Takes back a planned end.
   * @throws {ProblemError} `subscription_not_found`, `subscription_not_canceling`
   */
  uncancel(id: string): Promise<Subscription> {
    return this.apply(id, toUncancel);
  }

  /** The next invoice after `uncancel`; throws what it throws. */
  previewUncancel(id: string): Promise<SubscriptionPreview> {
    return this.preview(id, toUncancel);
  }

  /** @throws {ProblemError} `subscription_not_found`, `invalid_transition`, `subscription_change_pending` */
  pause(id: string): Promise<Subscription> {
    return this.apply(id, toPause);
  }

  /** The next invoice after `pause`; throws what it throws. */
  previewPause(id: string): Promise<SubscriptionPreview> {
    return this.preview(id, toPause);
  }

  /** @throws {ProblemError} `subscription_not_found`, `invalid_transition` */
  resume(id: string): Promise<Subscription> {
    return this.apply(id, this.toResume);
  }

  /** The next invoice after `resume`; throws what it throws. */
  previewResume(id: string): Promise<SubscriptionPreview> {
    return this.preview(id, this.toResume);
  }

  /**
   * Undoes a scheduled change, whatever it is. One that was undone already stays so.
   * @throws {ProblemError} `subscription_not_found`, `scheduled_change_not_found`, `invalid_transition`
   */
  undoScheduledChange(id: string, changeId: string): Promise<void> {
    return this.database.transaction(async () => {
      const { snapshot, now } = await this.setup(id);
      const change = await this.subscriptions.findScheduledChange(id, changeId);
      if (change === null) throw scheduledChangeNotFound(changeId);
      if (change.status === 'undone') return;
      if (change.status === 'applied')
        throw invalidTransition('scheduled change', 'applied', 'undone');
      await this.outcomes.apply(snapshot.subscription, decideUndo(snapshot), now);
    });
  }

  /**
   * Redeems a coupon on a subscription: it counts from the next invoice on.
   * @throws {ProblemError} `subscription_not_found`, `subscription_not_running`, what `RedemptionsService.redeem` throws
   */
  redeem(id: string, code: string): Promise<Subscription> {
    return this.database.transaction(async () => {
      const { snapshot, now } = await this.setup(id);
      const { subscription } = snapshot;
      assertNotEnded(subscription);
      await this.redemptions.redeem(redemptionOf(code, subscription), now);
      return subscription;
    });
  }

  /** The next invoice with the coupon. Throws what `redeem` throws. */
  previewRedeem(id: string, code: string): Promise<SubscriptionPreview> {
    return this.database.transaction(async () => {
      const { snapshot, customer, now } = await this.setup(id);
      const { subscription } = snapshot;
      assertNotEnded(subscription);
      const redeemed = await this.redemptions.preview(redemptionOf(code, subscription), now);
      const nothing = outcomeOf(subscription, {});
      return this.outcomes.preview(snapshot, nothing, customer, now, [redeemed]);
    });
  }

  private readonly toResume: Decide = async (snapshot, now) => {
    const { subscription } = snapshot;
    if (subscription.status !== 'paused') {
      throw invalidTransition('subscription', subscription.status, 'active');
    }
    const outcome = decideResume(snapshot, now, NEW_IDS);
    return { ...outcome, subscription: await this.standing.afterPause(outcome.subscription) };
  };

  private toChange(command: ChangeSubscription): Decide {
    return async (snapshot, now) => {
      const { subscription, period } = snapshot;
      refuse(subscription, changeRefusal(snapshot));
      const { offer, currency } = await this.offers.resolveChange(subscription, command);
      if (currency !== subscription.currency) {
        throw customerCurrencyMismatch(subscription.currency, currency);
      }
      if (command.when === 'period_end' && period !== null) {
        return decideChangeAtEnd(snapshot, offer, now, NEW_IDS);
      }
      const prorates =
        command.proration === null ? offer.proration !== 'none' : command.proration === 'prorate';
      return decideChangeNow(snapshot, offer, prorates, now, NEW_IDS);
    };
  }

  private apply(id: string, decide: Decide): Promise<Subscription> {
    return this.database.transaction(async () => {
      const { outcome, snapshot, now } = await this.decide(id, decide);
      if (isNoOp(snapshot.subscription, outcome)) return snapshot.subscription;
      return this.outcomes.apply(snapshot.subscription, outcome, now);
    });
  }

  private preview(id: string, decide: Decide): Promise<SubscriptionPreview> {
    return this.database.transaction(async () => {
      const { outcome, snapshot, customer, now } = await this.decide(id, decide);
      return this.outcomes.preview(snapshot, outcome, customer, now);
    });
  }

  private async decide(id: string, decide: Decide): Promise<Decided> {
    const { snapshot, customer, now } = await this.setup(id);
    return { outcome: await decide(snapshot, now), snapshot, customer, now };
  }

  /** All reads, in the caller's transaction. What is due already is done first: a command acts on the period that runs. */
  private async setup(id: string): Promise<Omit<Decided, 'outcome'>> {
    const found = await this.get(id);
    const customer = await this.customers.lockForHistory(found.customerId);
    if (customer.deletedAt !== null) throw subscriptionCustomerDeleted(id);
    const now = await this.testClocks.nowFor(found.testClockId);
    await this.due.catchUp(found, now);
    const snapshot = await this.subscriptions.lockSnapshot(id);
    if (snapshot === null) throw subscriptionNotFound(id);
    return { snapshot, customer, now };
  }
}

function assertNotEnded({ id, status }: Subscription): void {
  if (isTerminal(SUBSCRIPTION_TRANSITIONS, status)) throw subscriptionNotRunning(id, status);
}

function toCancel({ when, at, creditUnused }: CancelSubscription): Decide {
  return (snapshot, now) => {
    const { subscription, period, pending } = snapshot;
    refuse(subscription, transitionRefusal(subscription, 'canceled'));
    if ((when === 'at') !== (at !== null)) {
      throw subscriptionTermsContradict('/at', 'goes with `when: at` alone');
    }
    if (when === 'now') {
      if (isAwaitingPayment(subscription)) return decideGiveUp(snapshot, now, 'canceled');
      return decideEnd(
        { ...snapshot, subscription: { ...subscription, canceledAt: now } },
        now,
        'termination',
        creditUnused,
      );
    }
    if (pending !== null) throw subscriptionChangePending(subscription.id);
    if (period === null || period.isClosed || isAwaitingPayment(subscription)) {
      throw subscriptionNotRunning(subscription.id, subscription.status);
    }
    const effectiveAt = at ?? period.endAt;
    if (effectiveAt <= now) throw subscriptionTermsContradict('/at', 'must be in the future');
    return decideSchedule(snapshot, { kind: 'cancel', creditUnused }, effectiveAt, now, NEW_IDS);
  };
}

const toUncancel: Decide = (snapshot) => {
  if (snapshot.pending?.terms.kind !== 'cancel') {
    throw subscriptionNotCanceling(snapshot.subscription.id);
  }
  return decideUndo(snapshot);
};

const toPause: Decide = (snapshot, now) => {
  refuse(snapshot.subscription, pauseRefusal(snapshot));
  return decidePause(snapshot, now);
};

function refuse(subscription: Subscription, refusal: CommandRefusal | null): void {
  if (refusal !== null) throw problemOf(subscription, refusal);
}

function problemOf({ id, status }: Subscription, refusal: CommandRefusal): ProblemError {
  switch (refusal.kind) {
    case 'transition':
      return invalidTransition('subscription', status, refusal.to);
    case 'not_running':
      return subscriptionNotRunning(id, status);
    case 'pending':
      return subscriptionChangePending(id);
  }
}
