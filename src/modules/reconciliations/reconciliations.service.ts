import { Injectable, type OnModuleInit } from '@nestjs/common';
import { currentActor } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { emptyPeriod, raise } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Jobs } from '../../platform/jobs';
import { Outbox } from '../../platform/outbox';
import { LedgerChecks } from '../ledger';
import { LISTING_PROVIDERS, type ListingProvider, ProviderMovementsService } from '../payments';
import { DifferencesRepository } from './differences.repository';
import type { Difference } from './difference';
import {
  newReconciliation,
  type Reconciliation,
  type ReconciliationRequest,
} from './reconciliation';
import { reconciliationNotFound, reconciliationRunning } from './reconciliations.errors';
import { reconciliationCreated } from './reconciliations.events';
import { ReconciliationsRepository } from './reconciliations.repository';

export const RECONCILIATIONS_WORK = 'due-reconciliations';

const DAY_MS = 86_400_000;

@Injectable()
export class ReconciliationsService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly reconciliations: ReconciliationsRepository,
    private readonly differences: DifferencesRepository,
    private readonly provider: ProviderMovementsService,
    private readonly outbox: Outbox,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly ledger: LedgerChecks,
  ) {}

  onModuleInit(): void {
    this.ledger.showReconciliation(() => this.reconciliations.findLastEnded(this.clock.now()));
  }

  /**
   * Starts a reconciliation. A background job runs its steps.
   * @throws {ProblemError} `payment_provider_not_enabled`, `validation_failed`, `reconciliation_running`
   */
  start(request: ReconciliationRequest): Promise<Reconciliation> {
    this.provider.requireEnabled(request.provider);
    return this.database.transaction(async () => {
      const running = await this.reconciliations.lockRunning(request.provider);
      if (running !== null) throw reconciliationRunning(running.provider, running.id);
      return this.begin(request);
    });
  }

  /**
   * Starts a run over the last seven days with each enabled provider. Skips a provider in these cases:
   * - Any run with the provider is still running.
   * - A run over the last seven days was started with the provider in the last 24 hours.
   */
  async startDaily(): Promise<void> {
    for (const provider of LISTING_PROVIDERS) {
      if (this.provider.isEnabled(provider)) await this.startDailyOf(provider);
    }
  }

  /** @throws {ProblemError} `reconciliation_not_found` */
  async get(id: string): Promise<Reconciliation> {
    return (await this.reconciliations.find(id)) ?? raise(reconciliationNotFound(id));
  }

  list(request: PageRequest): Promise<Page<Reconciliation>> {
    return this.reconciliations.page(request);
  }

  /** @throws {ProblemError} `reconciliation_not_found` */
  async listDifferences(id: string, request: PageRequest): Promise<Page<Difference>> {
    await this.get(id);
    return this.differences.page(id, request);
  }

  private startDailyOf(provider: ListingProvider): Promise<void> {
    return this.database.transaction(async () => {
      if ((await this.reconciliations.lockRunning(provider)) !== null) return;
      const now = this.clock.now();
      const last = await this.reconciliations.findLastStarted(provider, now);
      const isDue = last === null || now.getTime() - last.createdAt.getTime() >= DAY_MS;
      if (isDue) await this.begin({ provider, from: null, to: null });
    });
  }

  private async begin(request: ReconciliationRequest): Promise<Reconciliation> {
    const now = this.clock.now();
    const run = newReconciliation(newId('rcon'), request, currentActor(), now);
    if (run.fromAt >= run.toAt) throw emptyPeriod();
    await this.reconciliations.insert(run);
    await this.outbox.record(reconciliationCreated, { after: run, occurredAt: now });
    this.database.afterCommit(() => {
      this.jobs.wake(RECONCILIATIONS_WORK);
    });
    return run;
  }
}
