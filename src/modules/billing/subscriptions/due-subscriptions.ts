import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SubscriptionBalancesService } from '../../entitlements';
import { AutomaticChargesService } from '../../payments';
import {
  DUE_SUBSCRIPTIONS,
  type DueSubscription,
  SubscriptionsRepository,
} from '../../subscriptions';
import { type DueQueue, DueQueues } from '../../test-clocks';
import { renewalBatches } from './renewal-batches';
import { RenewSubscriptionsWorkflow } from './renew-subscriptions.workflow';

/**
 * Maximum number of renewals per commit. The renewals of a commit share their SQL statements. With 100 per commit, a
 * renewal costs a sixth less CPU time than with 50. Even larger commits would lock the series of invoice numbers for
 * longer.
 */
const MAX_RENEWALS_PER_COMMIT = 100;

/**
 * Maximum number of entitlement balances that the renewals of a commit recalculate. A single customer with more
 * balances exceeds it. Commits of usage have the same maximum (decision 239). Until the commit ends, consumptions,
 * usage events and some access checks of all its customers wait.
 */
const MAX_BALANCES_PER_COMMIT = 20;

/** Does due work of subscriptions, such as renewals. One commit does at most one piece of work per subscription. */
@Injectable()
export class DueSubscriptions implements OnModuleInit {
  private readonly queue: DueQueue<DueSubscription> = {
    name: 'due-subscriptions',
    rows: DUE_SUBSCRIPTIONS,
    maxRows: MAX_RENEWALS_PER_COMMIT,
    batchesOf: (due) => this.batchesOf(due),
    run: (subscriptions, now) =>
      this.renewals.runNext(
        subscriptions.map(({ id }) => id),
        now,
      ),
    isHeld: () => this.charges.mustRenewalsWait(),
    whenRefused: 'postpone',
    recordRefusal: (subscription, code, now) =>
      this.renewals.recordFailure(subscription, code, now),
  };

  constructor(
    private readonly queues: DueQueues,
    private readonly renewals: RenewSubscriptionsWorkflow,
    private readonly charges: AutomaticChargesService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly balances: SubscriptionBalancesService,
  ) {}

  onModuleInit(): void {
    this.queues.register(this.queue);
  }

  runDue(): Promise<boolean> {
    return this.queues.runDue(this.queue);
  }

  /**
   * Divides due renewals into batches by the number of entitlement balances that they recalculate. Also counts the
   * balances that a scheduled change to another plan creates.
   */
  private async batchesOf(
    due: readonly DueSubscription[],
  ): Promise<readonly (readonly DueSubscription[])[]> {
    const pending = await this.subscriptions.pendingChanges(due.map(({ id }) => id));
    const customers = new Map(due.map(({ id, customerId }) => [id, customerId]));
    const changed = pending.flatMap(({ subscriptionId, terms }) => {
      const customerId = customers.get(subscriptionId);
      if (customerId === undefined || terms.kind !== 'change') return [];
      return { ...terms.offer, customerId };
    });
    const balances = await this.balances.countRecalculated([...due, ...changed]);
    return renewalBatches(due, balances, MAX_BALANCES_PER_COMMIT);
  }
}
