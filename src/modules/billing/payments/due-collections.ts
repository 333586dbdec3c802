import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { isDatabaseOutOfReach, OutcomeUnknownError } from '../../../platform/database';
import { ReturnedLeases } from '../../../platform/processes';
import { InvoiceCollectionService, NEXT_COLLECTION, WAITING_FOR_COLLECTION } from '../../invoicing';
import { LimitedPoller, type Payment } from '../../payments';
import { DueQueues, type KeepLease, TestClockParticipants } from '../../test-clocks';
import { CloseCollectionWorkflow } from './close-collection.workflow';
import { CollectInvoicesWorkflow, type OnFailure } from './collect-invoices.workflow';
import { leaseOf } from './payment-lease';

const WORK = 'due-collections';
const EVERY_MS = 1_000;
const BATCH_SIZE = 20;
/**
 * Maximum number of payments that are begun together on a test clock. They are charged one after the other, each within
 * 30 s, before their common lease of 150 s ends.
 */
const TEST_CLOCK_BATCH_SIZE = 4;

@Injectable()
export class DueCollections extends LimitedPoller<Payment> implements OnModuleInit {
  private readonly logger = new Logger(WORK);
  private examined = 0;

  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly clock: Clock,
    private readonly collectInvoices: CollectInvoicesWorkflow,
    private readonly closeCollection: CloseCollectionWorkflow,
    private readonly leases: ReturnedLeases,
    private readonly queues: DueQueues,
    private readonly collection: InvoiceCollectionService,
  ) {
    super(WORK);
  }

  onModuleInit(): void {
    this.jobs.register({
      name: WORK,
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
      waiting: WAITING_FOR_COLLECTION,
    });
    this.testClocks.registerJob({
      name: WORK,
      nextDue: NEXT_COLLECTION,
      runDue: (testClockId, now, keepLease) => this.runDueOn(testClockId, now, keepLease),
    });
  }

  /**
   * Begins to charge as many invoices as may be charged concurrently, and stops the collection of closed invoices. Does
   * not wait for the charges to end, because this job runs again whenever a charge ends. Returns true if more invoices
   * may be due.
   */
  async runDue(): Promise<boolean> {
    this.examined = 0;
    await this.fill();
    const now = this.clock.now();
    const closed = await this.closeCollection.closeNext(null, now, BATCH_SIZE, this.onFailure);
    return this.examined + closed > 0;
  }

  protected async claim(limit: number): Promise<readonly Payment[]> {
    const now = this.clock.now();
    const begun = this.collectInvoices.begin(null, now, limit).catch((error: unknown) => {
      if (concernsAll(error)) throw error;
      const message = 'due work failed together, and is done one by one';
      this.logger.warn({ err: error, work: WORK }, message);
      const isStopping = () => this.stopping;
      return this.collectInvoices.beginOneByOne(now, limit, isStopping, this.onFailure);
    });
    const { examined, payments } = await begun;
    this.examined = examined;
    return payments;
  }

  /**
   * Sends a payment to its provider and stores the outcome. If this fails, `DuePayments` completes the payment later.
   */
  protected async poll(payment: Payment): Promise<void> {
    try {
      await this.finish([payment]);
    } catch (error) {
      this.logger.error({ err: error, payment_id: payment.id }, 'an attempt was not finished');
    }
  }

  /** Logs and counts the failure of an invoice, and postpones the invoice. Rethrows errors of the whole database. */
  private readonly onFailure: OnFailure = async (id, why) => {
    if (concernsAll(why)) throw why;
    this.queues.countFailure(WORK, why);
    const log = (error: unknown) => {
      this.logger.error({ err: error, object_id: id }, 'due work was not finished');
    };
    log(why);
    await this.collection.postponeFailed(id, this.clock.now()).catch(log);
  };

  /** Does the due work on a test clock. If a charge throws an error, the advance of the test clock fails. */
  private async runDueOn(testClockId: string, now: Date, keepLease: KeepLease): Promise<void> {
    await this.closeCollection.closeNext(testClockId, now, BATCH_SIZE, (_, error) => {
      throw error;
    });
    const { payments } = await this.collectInvoices.begin(testClockId, now, TEST_CLOCK_BATCH_SIZE);
    await this.finish(payments, keepLease);
  }

  /**
   * Charges payments that are leased together, one after the other, so that the order of the events is reproducible. If
   * a charge throws an error, gives back the lease (the claim of this process) on all payments that are not finished.
   */
  private finish(payments: readonly Payment[], keepLease?: KeepLease): Promise<void> {
    return this.leases.finish(leaseOf(payments), async () => {
      for (const payment of payments) {
        await keepLease?.();
        await this.collectInvoices.charge(payment);
      }
    });
  }
}

/**
 * Returns true if the error concerns more than one invoice. Either the database is out of reach, or the work may have
 * been committed despite the error.
 */
function concernsAll(error: unknown): boolean {
  return error instanceof OutcomeUnknownError || isDatabaseOutOfReach(error);
}
