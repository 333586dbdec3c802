import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { changedAt, nextVersion } from '../../core/next-version';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Jobs, runAsBatch } from '../../platform/jobs';
import { Outbox, toEventRecord } from '../../platform/outbox';
import { DueQueues, TestClockParticipants } from '../test-clocks';
import {
  NEXT_OVERDUE,
  WAITING_UNTIL_OVERDUE,
  DueInvoicesRepository,
} from './due-invoices.repository';
import { InvoicesRepository } from './invoices.repository';
import { invoiceOverdue } from './invoicing.events';

const NAME = 'overdue-invoices';
const BATCH_SIZE = 50;
const EVERY_MS = 1_000;

/** Marks unpaid invoices as overdue when their due date comes, in real time or on a test clock. */
@Injectable()
export class DueInvoices implements OnModuleInit {
  private readonly logger = new Logger(NAME);

  constructor(
    private readonly jobs: Jobs,
    private readonly testClocks: TestClockParticipants,
    private readonly queues: DueQueues,
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
        const ids = await this.due.findOverdue(testClockId, now, BATCH_SIZE);
        await this.recordOverdue(ids, now);
      },
    });
  }

  /**
   * Marks at most one batch of invoices as overdue, in one commit; if that fails, each in its own commit. Returns true
   * if there may be more.
   */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const ids = await this.due.findOverdue(null, now, BATCH_SIZE);
    let marked = 0;
    await runAsBatch(
      ids,
      async (some) => {
        marked += await this.recordOverdue(some, now);
      },
      {
        onBatchFailure: (error) => {
          const message = 'due work failed together, and is done one by one';
          this.logger.warn({ err: error, work: NAME, items: ids.length }, message);
        },
        onItemFailure: (error, id) => {
          this.queues.countFailure(NAME, error);
          this.logger.error({ err: error, work: NAME, id }, 'due work failed');
        },
      },
    );
    return marked > 0;
  }

  /** Returns how many of the invoices were marked. Leaves out those that are locked, or no longer unpaid and due. */
  private recordOverdue(candidates: readonly string[], now: Date): Promise<number> {
    return this.database.transaction(async () => {
      const ids = await this.due.lockOverdue(candidates, now);
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
