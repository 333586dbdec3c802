import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AutomaticChargesService } from '../../payments';
import { DUE_SUBSCRIPTIONS, type DueSubscription } from '../../subscriptions';
import { type DueQueue, DueQueues } from '../../test-clocks';
import { RenewSubscriptionsWorkflow } from './renew-subscriptions.workflow';

/** Runs what falls due for subscriptions, one piece of work of each. */
@Injectable()
export class DueSubscriptions implements OnModuleInit {
  private readonly queue: DueQueue<DueSubscription> = {
    name: 'due-subscriptions',
    rows: DUE_SUBSCRIPTIONS,
    run: (subscriptions, now) =>
      this.renewals.runNext(
        subscriptions.map(({ id }) => id),
        now,
      ),
    isHeld: () => this.charges.holdsRenewals(),
    whenRefused: 'postpone',
    noteRefusal: (subscription, code, now) => this.renewals.noteFailure(subscription, code, now),
  };

  constructor(
    private readonly queues: DueQueues,
    private readonly renewals: RenewSubscriptionsWorkflow,
    private readonly charges: AutomaticChargesService,
  ) {}

  onModuleInit(): void {
    this.queues.register(this.queue);
  }

  /** Returns true if more may be due. */
  runDue(): Promise<boolean> {
    return this.queues.runDue(this.queue);
  }
}
