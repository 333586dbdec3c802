import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { nextVersion } from '../../../core/next-version';
import { Clock } from '../../../platform/clock';
import { Database, type Page, type PageRequest } from '../../../platform/database';
import { invalidTransition, raise } from '../../../platform/errors';
import { Idempotency } from '../../../platform/idempotency';
import { newId } from '../../../platform/ids';
import { DatabaseGauges, Metrics } from '../../../platform/observability';
import { Outbox } from '../../../platform/outbox';
import { discrepancyNotFound } from './discrepancies.errors';
import {
  appliedAnswer,
  discrepancyApplied,
  discrepancyCreated,
  discrepancyDismissed,
} from './discrepancies.events';
import { DiscrepanciesRepository, type RefundReport } from './discrepancies.repository';
import type { Discrepancy, DiscrepancyStatus, ReportedDiscrepancy } from './domain/discrepancy';

type ResolvedStatus = Exclude<DiscrepancyStatus, 'open'>;

const RESOLVED_EVENTS = { applied: discrepancyApplied, dismissed: discrepancyDismissed } as const;

/**
 * Records provider reports that contradict the final status of a payment or refund. An operator applies or dismisses
 * each discrepancy.
 */
@Injectable()
export class DiscrepanciesService {
  private readonly logger = new Logger('payment-provider');
  private readonly recorded: Counter<'object' | 'recorded' | 'reported'>;

  constructor(
    private readonly database: Database,
    private readonly discrepancies: DiscrepanciesRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly idempotency: Idempotency,
    metrics: Metrics,
    gauges: DatabaseGauges,
  ) {
    this.recorded = new Counter({
      name: 'provider_discrepancies_total',
      help: 'Reports of payment providers that contradict a final outcome.',
      labelNames: ['object', 'recorded', 'reported'],
      registers: [metrics.registry],
    });
    gauges.register(
      [
        {
          name: 'provider_discrepancies_open',
          help: 'Provider discrepancies that are neither applied nor dismissed.',
          labelNames: ['object'],
        },
      ],
      async (open) => {
        const { payment, refund } = await discrepancies.countOpen();
        open.set({ object: 'payment' }, payment);
        open.set({ object: 'refund' }, refund);
      },
    );
  }

  /**
   * Records a discrepancy in the caller's transaction. After the commit, logs an error and increments the metric
   * `provider_discrepancies_total`. Does nothing if the same discrepancy is already open or was dismissed.
   */
  async record(reported: ReportedDiscrepancy): Promise<void> {
    const now = this.clock.now();
    const created: Discrepancy = {
      ...reported,
      id: newId('dscr'),
      version: 1,
      status: 'open',
      createdAt: now,
      updatedAt: now,
    };
    if (!(await this.discrepancies.insert(created))) return;
    await this.outbox.record(discrepancyCreated, { after: created, occurredAt: now });
    this.database.afterCommit(() => {
      this.alert(created);
    });
  }

  /** @throws {ProblemError} `provider_discrepancy_not_found` */
  async get(id: string): Promise<Discrepancy> {
    return (await this.discrepancies.find(id)) ?? raise(discrepancyNotFound(id));
  }

  /** Returns all reports about refunds of a payment: open, applied and dismissed. */
  refundReportsOf(paymentId: string): Promise<readonly RefundReport[]> {
    return this.discrepancies.refundReportsOf(paymentId);
  }

  list(status: DiscrepancyStatus | null, request: PageRequest): Promise<Page<Discrepancy>> {
    return this.discrepancies.page(status, request);
  }

  /**
   * Dismisses a discrepancy that was resolved elsewhere. A no-op if the discrepancy is already dismissed.
   * @throws {ProblemError} `provider_discrepancy_not_found`, `invalid_transition`
   */
  dismiss(id: string): Promise<Discrepancy> {
    return this.database.transaction(async () => {
      const before = await this.lockFor(id, 'dismissed');
      return before.status === 'open' ? this.resolve(before, 'dismissed') : before;
    });
  }

  /**
   * Dismisses the open report that a refund has succeeded, after the refund failed or was canceled at the provider. A
   * no-op if there is no such report. Runs in the caller's transaction, which must have locked the payment.
   * @param reference the provider's id of the refund
   */
  async dismissReport(refundId: string, reference: string): Promise<void> {
    const report = await this.discrepancies.lockOpenReport(refundId, reference);
    if (report !== null) await this.resolve(report, 'dismissed');
  }

  /**
   * Runs `apply` in a transaction. First claims the idempotency key of the request. Afterwards stores the discrepancy
   * that `apply` returns as the answer to the request.
   */
  applyOnce(id: string, apply: () => Promise<Discrepancy>): Promise<Discrepancy> {
    return this.database.transaction(async () => {
      await this.idempotency.claimFor(id);
      const applied = await apply();
      await this.idempotency.completeFor(id, appliedAnswer(applied));
      return applied;
    });
  }

  /**
   * Locks and returns a discrepancy. The discrepancy must be open or already have the status `status`. Lock order:
   * before this call, the caller may lock only the customer and, for a discrepancy of a refund, the payment.
   * @throws {ProblemError} `provider_discrepancy_not_found`, `invalid_transition`
   */
  async lockFor(id: string, status: ResolvedStatus): Promise<Discrepancy> {
    const discrepancy = (await this.discrepancies.lock(id)) ?? raise(discrepancyNotFound(id));
    if (discrepancy.status === 'open' || discrepancy.status === status) return discrepancy;
    throw invalidTransition('provider discrepancy', discrepancy.status, status);
  }

  /** Sets the final status of a locked, open discrepancy, and records the event of this status. */
  async resolve(before: Discrepancy, status: ResolvedStatus): Promise<Discrepancy> {
    const now = this.clock.now();
    const after = nextVersion(before, now, { status });
    await this.discrepancies.updateStatus(after);
    await this.outbox.recordChange(RESOLVED_EVENTS[status], { after, before }, now);
    return after;
  }

  private alert({ id, paymentId, refundId, recordedStatus, reportedStatus }: Discrepancy): void {
    this.recorded.inc({
      object: refundId === null ? 'payment' : 'refund',
      recorded: recordedStatus,
      reported: reportedStatus,
    });
    this.logger.error(
      {
        discrepancy_id: id,
        payment_id: paymentId,
        refund_id: refundId,
        recorded_status: recordedStatus,
        reported_status: reportedStatus,
      },
      'a provider contradicts a final outcome: apply or dismiss the discrepancy',
    );
  }
}
