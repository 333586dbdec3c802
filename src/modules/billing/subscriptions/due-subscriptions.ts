import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AutomaticChargesService } from '../../payments';
import { DUE_SUBSCRIPTIONS, type DueSubscription } from '../../subscriptions';
import { type DueQueue, DueQueues } from '../../test-clocks';
import { RenewSubscriptionsWorkflow } from './renew-subscriptions.workflow';

/**
 * Maximum number of renewals per commit. The renewals of a commit share their SQL statements: with 100 per commit, a
 * renewal costs a sixth less CPU time than with 50. Even larger commits would lock the series of invoice numbers for
 * longer.
 */
const MAX_RENEWALS_PER_COMMIT = 100;

/** Does due work of subscriptions, such as renewals. One commit does at most one piece of work per subscription. */
@Injectable()
export class DueSubscriptions implements OnModuleInit {
  private readonly queue: DueQueue<DueSubscription> = {
    name: 'due-subscriptions',
    rows: DUE_SUBSCRIPTIONS,
    maxRows: MAX_RENEWALS_PER_COMMIT,
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
  ) {}

  onModuleInit(): void {
    this.queues.register(this.queue);
  }

  runDue(): Promise<boolean> {
    return this.queues.runDue(this.queue);
  }
}
