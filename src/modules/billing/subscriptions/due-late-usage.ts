import { Injectable, type OnModuleInit } from '@nestjs/common';
import { FinalUsageService } from '../../metering';
import { DueQueues } from '../../test-clocks';
import { BillLateUsageWorkflow } from './bill-late-usage.workflow';

/** Bills late usage of ended subscriptions when it is due. */
@Injectable()
export class DueLateUsage implements OnModuleInit {
  constructor(
    private readonly queues: DueQueues,
    private readonly finalUsage: FinalUsageService,
    private readonly billing: BillLateUsageWorkflow,
  ) {}

  onModuleInit(): void {
    this.queues.register<string>({
      name: 'due-late-usage',
      table: 'usage_closed_subscription',
      claimDue: (...due) => this.finalUsage.claimDue(...due),
      nextDueOn: (testClockId) => this.finalUsage.nextDueOn(testClockId),
      dueOn: (...due) => this.finalUsage.dueOn(...due),
      run: (ids, now) => this.billing.billAll(ids, now),
      postpone: (id, until) => this.finalUsage.postpone(id, until),
    });
  }
}
