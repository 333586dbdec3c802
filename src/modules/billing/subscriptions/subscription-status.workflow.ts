import { Injectable } from '@nestjs/common';
import { changedAt, nextVersion } from '../../../core/next-version';
import { Outbox } from '../../../platform/outbox';
import { attemptsFailure, DueInvoicesRepository } from '../../invoicing';
import { PaymentRetries, PaymentsService } from '../../payments';
import {
  type PaymentEvent,
  afterPaymentEvent,
  type Outcome,
  statusEventOf,
  type Subscription,
  SubscriptionsRepository,
} from '../../subscriptions';
import { DerivedState } from './derived-state';

/**
 * Sets the status of a subscription after a payment event. Examples are a failed automatic charge, or the payment of
 * the last open invoice. Also updates the entitlement balances and the recorded MRR. Runs in the transaction of the
 * caller, which has locked the subscription.
 */
@Injectable()
export class SubscriptionStatusWorkflow {
  constructor(
    private readonly subscriptions: SubscriptionsRepository,
    private readonly derivedState: DerivedState,
    private readonly dueInvoices: DueInvoicesRepository,
    private readonly payments: PaymentsService,
    private readonly retries: PaymentRetries,
    private readonly outbox: Outbox,
  ) {}

  /** Sets the status after a payment event. A no-op if the status does not change. */
  applyPaymentEvent(before: Subscription, event: PaymentEvent, now: Date): Promise<void> {
    return this.applyToAll([before], event, now);
  }

  /** Applies the payment event `settled` if the subscription has no open invoice. A written-off invoice is not open. */
  async applySettled(before: Subscription, now: Date): Promise<void> {
    if (await this.dueInvoices.hasOpen(before.id)) return;
    await this.applyPaymentEvent(before, 'settled', now);
  }

  /**
   * Completes the outcome of resuming a paused subscription. If charges of its open invoices have failed, returns the
   * outcome with the resulting status (such as `past_due`) and the event of this status. Writes nothing.
   */
  async afterPause(resumed: Outcome, now: Date): Promise<Outcome> {
    const attempted = await this.dueInvoices.findAttempted(resumed.subscription.id);
    const inFlight = await this.payments.findBeingCharged(attempted.map(({ id }) => id));
    const failure = attemptsFailure(attempted, inFlight, this.retries.planUntil(null), now);
    if (failure === null) return resumed;
    return {
      ...resumed,
      subscription: afterPaymentEvent(resumed.subscription, failure),
      events: [...resumed.events, failure === 'failed' ? 'past_due' : 'updated'],
    };
  }

  /** Does the same as {@link applyPaymentEvent} for several subscriptions. */
  async applyToAll(
    subscriptions: readonly Subscription[],
    event: PaymentEvent,
    now: Date,
  ): Promise<void> {
    const changes = subscriptions.flatMap((before) => {
      const changed = afterPaymentEvent(before, event);
      return changed === before ? [] : [{ before, after: nextVersion(before, now, changed) }];
    });
    if (changes.length === 0) return;
    for (const { after } of changes) await this.subscriptions.updateStatus(after);
    const changed = changes.map(({ before }) => before);
    await this.derivedState.update(changes, changedAt(now, ...changed));
    for (const { before, after } of changes) {
      const occurredAt = changedAt(now, before);
      await this.outbox.record(statusEventOf(after.status), { after, before, occurredAt });
    }
  }
}
