import { Injectable } from '@nestjs/common';
import { raise } from '../../../platform/errors';
import { Database, type VersionCondition } from '../../../platform/database';
import { SubscriptionBalancesService } from '../../entitlements';
import {
  type CancelSubscription,
  type ChangeSubscription,
  isNoOp,
  type Outcome,
  scheduledChangeNotFound,
  type Snapshot,
  type Subscription,
  SubscriptionCommandsService,
  SubscriptionsRepository,
} from '../../subscriptions';
import { ApplyOutcomesWorkflow } from './apply-outcomes.workflow';
import { PreviewInvoiceWorkflow, type SubscriptionPreview } from './preview-invoice.workflow';
import { RenewSubscriptionsWorkflow } from './renew-subscriptions.workflow';
import { SubscriptionStatusWorkflow } from './subscription-status.workflow';

export type SubscriptionCommand =
  | { readonly kind: 'change'; readonly terms: ChangeSubscription }
  | { readonly kind: 'cancel'; readonly terms: CancelSubscription }
  | { readonly kind: 'uncancel' | 'pause' | 'resume' };

/**
 * Changes subscriptions by command.
 *
 * 1. Locks the customer.
 * 2. Does the due work of the subscription, such as a renewal, so that the command acts on the current period.
 * 3. Locks the subscription with its items, periods and scheduled changes, and decides the effects of the command.
 * 4. Writes these effects. A preview does not write them, and returns the next invoice. Steps 1 to 3 are the same.
 */
@Injectable()
export class ChangeSubscriptionWorkflow {
  constructor(
    private readonly database: Database,
    private readonly renewals: RenewSubscriptionsWorkflow,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly commands: SubscriptionCommandsService,
    private readonly status: SubscriptionStatusWorkflow,
    private readonly outcomes: ApplyOutcomesWorkflow,
    private readonly previews: PreviewInvoiceWorkflow,
    private readonly balances: SubscriptionBalancesService,
  ) {}

  /**
   * Applies a command. A no-op writes nothing and records no event.
   * @throws {ProblemError} `subscription_not_found`, `subscription_customer_deleted`, `subscription_behind`,
   *   `precondition_failed`, `usage_archived`, `test_clock_advancing`, `test_clock_failed`, and the errors of
   *   `SubscriptionCommandsService`
   */
  apply(
    id: string,
    command: SubscriptionCommand,
    expected: VersionCondition,
  ): Promise<Subscription> {
    return this.database.transaction(async () => {
      const { snapshot, now } = await this.renewals.lockCurrent(id, expected);
      const outcome = await this.decide(snapshot, command, now);
      if (isNoOp(snapshot.subscription, outcome)) return snapshot.subscription;
      return this.outcomes.apply(snapshot.subscription, outcome, now);
    });
  }

  /**
   * Returns the next invoice after the command, and the version of the subscription before the command. Writes nothing
   * but the due work of the subscription. Throws the errors of `apply`.
   */
  preview(
    id: string,
    command: SubscriptionCommand,
    expected: VersionCondition,
  ): Promise<SubscriptionPreview> {
    return this.database.transaction(async () => {
      const { snapshot, customer, now } = await this.renewals.lockCurrent(id, expected);
      const outcome = await this.decide(snapshot, command, now);
      return this.previews.preview(snapshot, outcome, customer, now);
    });
  }

  /**
   * Undoes a scheduled change or cancellation. A no-op if it is undone already.
   * @throws {ProblemError} `scheduled_change_not_found`, `invalid_transition`, and the errors of
   *   `RenewSubscriptionsWorkflow.lockCurrent`
   */
  undoScheduledChange(id: string, changeId: string): Promise<void> {
    return this.database.transaction(async () => {
      const { snapshot, now } = await this.renewals.lockCurrent(id);
      const change =
        (await this.subscriptions.findScheduledChange(id, changeId)) ??
        raise(scheduledChangeNotFound(changeId));
      const outcome = this.commands.undo(snapshot, change);
      if (outcome !== null) await this.outcomes.apply(snapshot.subscription, outcome, now);
    });
  }

  private async decide(
    snapshot: Snapshot,
    command: SubscriptionCommand,
    now: Date,
  ): Promise<Outcome> {
    switch (command.kind) {
      case 'change': {
        const outcome = await this.commands.change(snapshot, command.terms, now);
        const { subscription, scheduled } = outcome;
        const terms = scheduled?.terms.kind === 'change' ? scheduled.terms.offer : subscription;
        await this.balances.requireCountable(subscription, terms.planVersionId, now);
        return outcome;
      }
      case 'cancel':
        return this.commands.cancel(snapshot, command.terms, now);
      case 'uncancel':
        return this.commands.uncancel(snapshot);
      case 'pause':
        return this.commands.pause(snapshot, now);
      case 'resume':
        return this.status.afterPause(this.commands.resume(snapshot, now), now);
    }
  }
}
