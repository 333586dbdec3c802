import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Database, isInterruption } from '../../platform/database';
import { DatabaseGauges } from '../../platform/observability';
import { Outbox } from '../../platform/outbox';
import { pollAgainLater } from '../payments';
import { DifferencesRepository } from './differences.repository';
import {
  afterNoResult,
  afterStep,
  type Reconciliation,
  type ReconciliationFailure,
} from './reconciliation';
import { ListedMovementsRepository } from './listed-movements.repository';
import { ReconciliationSteps, type ReconciliationStep } from './reconciliation-steps';
import { RECONCILIATION_EVENTS } from './reconciliations.events';
import { ReconciliationsRepository } from './reconciliations.repository';

/**
 * Runs the steps of reconciliations. Each step runs outside any transaction, and its result is written in one commit.
 */
@Injectable()
export class RunReconciliationsService {
  private readonly logger = new Logger('reconciliations');

  constructor(
    private readonly database: Database,
    private readonly reconciliations: ReconciliationsRepository,
    private readonly differences: DifferencesRepository,
    private readonly listedMovements: ListedMovementsRepository,
    private readonly steps: ReconciliationSteps,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    gauges: DatabaseGauges,
  ) {
    gauges.register(
      [
        {
          name: 'reconciliation_differences',
          help: 'Differences that the last reconciliation of the last seven days with a provider found.',
          labelNames: ['provider'],
        },
        {
          name: 'reconciliation_completed_timestamp_seconds',
          help: 'Unix time at which such a reconciliation was last completed.',
          labelNames: ['provider'],
        },
      ],
      async (differences, completed) => {
        const results = await reconciliations.findLastResults(clock.now());
        // A provider without a result would keep its last value.
        differences.reset();
        completed.reset();
        for (const last of results) {
          const { provider, found, completedAt } = last;
          if (found !== null) differences.set({ provider }, found);
          if (completedAt !== null) completed.set({ provider }, completedAt.getTime() / 1_000);
        }
      },
    );
  }

  /**
   * Runs the next step of a run. A failed step is tried again. If all attempts fail, the run ends.
   * @throws {Error} if the database interrupted the step
   */
  async resume(id: string): Promise<void> {
    const run = await this.reconciliations.find(id);
    if (run?.status !== 'running') return;
    try {
      await this.commit(run, (await this.steps.next(run)) ?? 'provider_unavailable');
    } catch (error) {
      if (isInterruption(error)) throw error;
      this.logger.error({ err: error, reconciliation_id: id }, 'a step of a reconciliation failed');
      await this.commit(run, 'internal_error');
    }
  }

  /**
   * Stores the result of a step, or the reason why the step has no result. Stores nothing if another process has
   * changed the run meanwhile.
   */
  private commit(
    run: Reconciliation,
    step: ReconciliationStep | ReconciliationFailure,
  ): Promise<void> {
    return this.database.transaction(async () => {
      const before = await this.reconciliations.lock(run.id);
      if (before?.version !== run.version) return;
      if (typeof step === 'string') await this.tryLater(before, step);
      else await this.advance(before, step);
    });
  }

  private async tryLater(before: Reconciliation, reason: ReconciliationFailure): Promise<void> {
    const now = this.clock.now();
    const retry = pollAgainLater(before, now);
    await this.reconciliations.update(afterNoResult(before, retry, reason, now));
  }

  private async advance(before: Reconciliation, step: ReconciliationStep): Promise<void> {
    const now = this.clock.now();
    await this.listedMovements.insert(before.id, step.listed);
    await this.differences.insert(step.differences);
    const after = afterStep(before, step.result, now);
    await this.reconciliations.update(after);
    if (after.status === 'running') return;
    await this.outbox.record(RECONCILIATION_EVENTS[after.status], {
      after,
      before,
      occurredAt: now,
    });
    this.database.afterCommit(() => {
      this.report(after);
    });
  }

  private report({ id, provider, status, differencesFound: differences }: Reconciliation): void {
    if (status === 'completed' && differences === 0) return;
    this.logger.error(
      { reconciliation_id: id, provider, status, differences },
      'the reconciliation is incomplete or found differences: check its result',
    );
  }
}
