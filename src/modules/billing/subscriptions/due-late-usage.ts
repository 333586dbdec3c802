import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DUE_LATE_USAGE } from '../../metering';
import { DueQueues } from '../../test-clocks';
import { BillLateUsageWorkflow } from './bill-late-usage.workflow';

/**
 * Bills late usage of ended subscriptions when the invoice for it is due. (Late usage is accepted after its period was
 * billed.)
 */
@Injectable()
export class DueLateUsage implements OnModuleInit {
  constructor(
    private readonly queues: DueQueues,
    private readonly billLateUsage: BillLateUsageWorkflow,
  ) {}

  onModuleInit(): void {
    this.queues.register({
      name: 'due-late-usage',
      rows: DUE_LATE_USAGE,
      run: (closed, now) =>
        this.billLateUsage.billAll(
          closed.map(({ id }) => id),
          now,
        ),
      whenRefused: 'postpone',
    });
  }
}
