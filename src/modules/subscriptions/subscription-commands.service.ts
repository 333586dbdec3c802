import { Injectable } from '@nestjs/common';
import { isTerminal } from '../../core/states';
import { invalidTransition, ProblemError } from '../../platform/errors';
import type { RedemptionRequest } from '../coupons';
import { customerCurrencyMismatch } from '../customers';
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
import { decideEndUnpaid } from './domain/decide-first-payment';
import { isAwaitingPayment } from './domain/first-payment';
import type { Outcome } from './domain/outcome';
import {
  type ScheduledChange,
  type Snapshot,
  type Subscription,
  SUBSCRIPTION_TRANSITIONS,
  type SubscriptionStatus,
} from './domain/subscription';
import { SUBSCRIPTION_IDS } from './new-ids';
import { OffersService } from './offers.service';
import { redemptionRequestOf } from './start-subscription.service';
import {
  subscriptionChangePending,
  subscriptionNotCanceling,
  subscriptionNotRunning,
  subscriptionTermsContradict,
} from './subscriptions.errors';

/** Checks commands on locked subscriptions and works out their effects. Writes nothing. */
@Injectable()
export class SubscriptionCommandsService {
  constructor(private readonly offers: OffersService) {}

  /**
   * Works out a change of plan, version, quantity or add-ons, now or at the end of the period. A change to the present
   * terms is a no-op.
   * @throws {ProblemError} `subscription_not_running`, `subscription_change_pending`, `reference_not_found`,
   *   `plan_version_changed`, `customer_currency_mismatch`, `subscription_terms_contradict`, `subscription_too_large`
   */
  async change(snapshot: Snapshot, command: ChangeSubscription, now: Date): Promise<Outcome> {
    const { subscription, period } = snapshot;
    refuse(subscription, changeRefusal(snapshot));
    const { offer, currency } = await this.offers.resolveChange(subscription, command);
    if (currency !== subscription.currency) {
      throw customerCurrencyMismatch(subscription.currency, currency);
    }
    if (command.when === 'period_end' && period !== null) {
      return decideChangeAtEnd(snapshot, offer, now, SUBSCRIPTION_IDS);
    }
    const prorates =
      command.proration === null ? offer.proration !== 'none' : command.proration === 'prorate';
    const planPriceIds = await this.offers.getPriceIds(offer.planId);
    return decideChangeNow(snapshot, offer, planPriceIds, prorates, now, SUBSCRIPTION_IDS);
  }

  /**
   * Works out a cancellation: now, at the end of the period or at a given time, with or without credit for the unused
   * part.
   * @throws {ProblemError} `invalid_transition`, `subscription_not_running`, `subscription_change_pending`,
   *   `subscription_terms_contradict`
   */
  cancel(snapshot: Snapshot, command: CancelSubscription, now: Date): Outcome {
    const { when, at, creditUnused } = command;
    const { subscription, period, pending } = snapshot;
    refuse(subscription, transitionRefusal(subscription, 'canceled'));
    if ((when === 'at') !== (at !== null)) {
      const fault =
        when === 'at' ? 'is required for `when: at`' : 'can only be sent with `when: at`';
      throw subscriptionTermsContradict('/at', fault);
    }
    if (when === 'now') {
      if (isAwaitingPayment(subscription)) return decideEndUnpaid(snapshot, now, 'canceled');
      const canceled = { ...snapshot, subscription: { ...subscription, canceledAt: now } };
      return decideEnd(canceled, now, 'termination', creditUnused);
    }
    if (pending !== null) throw subscriptionChangePending(subscription.id);
    if (period === null || period.isClosed || isAwaitingPayment(subscription)) {
      throw subscriptionNotRunning(subscription.id, subscription.status);
    }
    const effectiveAt = at ?? period.endAt;
    if (effectiveAt <= now) throw subscriptionTermsContradict('/at', 'must be in the future');
    const terms = { kind: 'cancel', creditUnused } as const;
    return decideSchedule(snapshot, terms, effectiveAt, now, SUBSCRIPTION_IDS);
  }

  /**
   * Returns the outcome of undoing a scheduled cancellation.
   * @throws {ProblemError} `subscription_not_canceling`
   */
  uncancel(snapshot: Snapshot): Outcome {
    if (snapshot.pending?.terms.kind !== 'cancel') {
      throw subscriptionNotCanceling(snapshot.subscription.id);
    }
    return decideUndo(snapshot);
  }

  /**
   * Returns the outcome of undoing a scheduled change; null if it was undone already.
   * @throws {ProblemError} `invalid_transition`
   */
  undo(snapshot: Snapshot, { status }: ScheduledChange): Outcome | null {
    if (status === 'undone') return null;
    if (status === 'applied') throw invalidTransition('scheduled change', 'applied', 'undone');
    return decideUndo(snapshot);
  }

  /** @throws {ProblemError} `invalid_transition`, `subscription_change_pending` */
  pause(snapshot: Snapshot, now: Date): Outcome {
    refuse(snapshot.subscription, pauseRefusal(snapshot));
    return decidePause(snapshot, now);
  }

  /** @throws {ProblemError} `invalid_transition` */
  resume(snapshot: Snapshot, now: Date): Outcome {
    const { status } = snapshot.subscription;
    if (status !== 'paused') {
      const next = 'Resume it only while it is paused.';
      throw invalidTransition('subscription', status, 'active', next);
    }
    return decideResume(snapshot, now, SUBSCRIPTION_IDS);
  }

  /**
   * Returns the request to redeem a coupon on a subscription.
   * @throws {ProblemError} `subscription_not_running`
   */
  redemption({ subscription }: Snapshot, code: string): RedemptionRequest {
    const { id, status } = subscription;
    if (isTerminal(SUBSCRIPTION_TRANSITIONS, status)) throw subscriptionNotRunning(id, status);
    return redemptionRequestOf(code, subscription);
  }
}

function refuse(subscription: Subscription, refusal: CommandRefusal | null): void {
  if (refusal !== null) throw problemOf(subscription, refusal);
}

function problemOf({ id, status }: Subscription, refusal: CommandRefusal): ProblemError {
  switch (refusal.kind) {
    case 'transition':
      return invalidTransition('subscription', status, refusal.to, nextStepOf(refusal.to));
    case 'not_running':
      return subscriptionNotRunning(id, status);
    case 'pending':
      return subscriptionChangePending(id);
  }
}

function nextStepOf(refused: SubscriptionStatus): string {
  return refused === 'paused'
    ? 'Pause it only while it is active.'
    : 'It has ended: create another one to continue.';
}
