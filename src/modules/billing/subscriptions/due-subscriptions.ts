import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SubscriptionsRepository } from '../../subscriptions';
import { type DueQueue, DueQueues } from '../../test-clocks';
import { RenewSubscriptionsWorkflow } from './renew-subscriptions.workflow';

/** Runs what falls due for subscriptions, one piece of work of each. */
@Injectable()
export class DueSubscriptions implements OnModuleInit {
  private readonly queue: DueQueue<string> = {
    name: 'due-subscriptions',
    table: 'subscription',
    claimDue: (...due) => this.repository.claimDue(...due),
    nextDueOn: (testClockId) => this.repository.nextDueOn(testClockId),
    dueOn: (...due) => this.repository.dueOn(...due),
    run: (ids, now) => this.renewals.runNext(ids, now),
    postpone: (id, until) => this.repository.postpone(id, until),
  };

  constructor(
    private readonly queues: DueQueues,
    private readonly repository: SubscriptionsRepository,
    private readonly renewals: RenewSubscriptionsWorkflow,
  ) {}

  onModuleInit(): void {
    this.queues.register(this.queue);
  }

  /** Returns true if more may be due. */
  runDue(): Promise<boolean> {
    return this.queues.runDue(this.queue);
  }
}
