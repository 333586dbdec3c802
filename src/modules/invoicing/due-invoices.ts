import { Injectable, type OnModuleInit } from '@nestjs/common';
import { changedAt, nextVersion } from '../../core/next-version';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Jobs } from '../../platform/jobs';
import { Outbox, toEventRecord } from '../../platform/outbox';
import { TestClockParticipants } from '../test-clocks';
import {
  NEXT_OVERDUE,
  WAITING_UNTIL_OVERDUE,
  DueInvoicesRepository,
  type TimeScope,
} from './due-invoices.repository';
import { InvoicesRepository } from './invoices.repository';
import { invoiceOverdue } from './invoicing.events';

const NAME = 'overdue-invoices';
const BATCH_SIZE = 50;
const EVERY_MS = 1_000;

/** Marks unpaid invoices as overdue when their due date comes, in real time or on a test clock. */
@Injectable()
export class DueInvoices implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly testClocks: TestClockParticipants,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly due: DueInvoicesRepository,
    private readonly invoices: InvoicesRepository,
    private readonly outbox: Outbox,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: NAME,
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
      waiting: WAITING_UNTIL_OVERDUE,
    });
    this.testClocks.registerJob({
      name: NAME,
      nextDue: NEXT_OVERDUE,
      runDue: async (testClockId, now) => {
        await this.recordOverdue(testClockId, now);
      },
    });
  }

  /** Marks at most one batch of invoices as overdue. Returns true if there may be more. */
  async runDue(): Promise<boolean> {
    return (await this.recordOverdue(null, this.clock.now())) > 0;
  }

  private recordOverdue(scope: TimeScope, now: Date): Promise<number> {
    return this.database.transaction(async () => {
      const ids = await this.due.lockOverdue(scope, now, BATCH_SIZE);
      const changes = (await this.invoices.findAll(ids)).map((before) => {
        const occurredAt = changedAt(now, before);
        return {
          before,
          after: nextVersion(before, occurredAt, { overdueAt: occurredAt }),
          occurredAt,
        };
      });
      await this.due.updateOverdue(changes.map(({ after }) => after));
      await this.outbox.recordAll(changes.map((change) => toEventRecord(invoiceOverdue, change)));
      return ids.length;
    });
  }
}
