import { setTimeout as sleep } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { Database } from '../../platform/database';
import { type TestClockJob, TestClockParticipants } from '../test-clocks';
import { type PolledRepository, type PolledService, ProviderPoller } from './provider-poller';

/** Number of calls to a provider after which a test clock no longer waits for the answer. */
const MAX_CALLS = 3;

/** Repository of the polled objects. Its table has the columns `customer_id` and `created_at`. */
interface AwaitedRepository extends PolledRepository {
  /** SQL condition for objects with a `due_at`: true if the provider has not answered about the object yet. */
  readonly unanswered: string;
}

/** Pause, in milliseconds, until a test clock looks again whether running calls have ended. */
const PAUSE_MS = 100;

/**
 * Poller that test clocks wait for. A call to a provider may get no answer, for example because the process stopped.
 * Before a clock moves on, this poller asks the provider again, so that the outcome gets the time that the clock had at
 * the call. It also waits for calls that are running now, until they end or their process dies, but not for outcomes
 * that providers announce for later.
 */
export abstract class AwaitedPoller extends ProviderPoller {
  @Inject() private readonly testClocks!: TestClockParticipants;
  @Inject() private readonly database!: Database;

  protected constructor(
    private readonly job: TestClockJob['name'],
    private readonly awaited: AwaitedRepository,
    service: PolledService,
  ) {
    super(job, awaited, service);
  }

  override onModuleInit(): void {
    super.onModuleInit();
    const { table, unanswered } = this.awaited;
    const source = `
      FROM ${table} WHERE due_at IS NOT NULL AND attempts < ${MAX_CALLS} AND ${unanswered}
        AND EXISTS (SELECT FROM customer WHERE customer.id = customer_id AND test_clock_id = $1)`;
    const claim = `
      UPDATE ${table} SET due_at = $2, leased_by = $3 WHERE id = (
        SELECT id ${source} AND (leased_by IS NULL OR due_at <= $4)
        ORDER BY created_at, id LIMIT 1 FOR NO KEY UPDATE)
      RETURNING id`;
    this.testClocks.registerJob({
      name: this.job,
      nextDue: `SELECT min(created_at) ${source}`,
      runDue: (testClockId) => this.runOneOn(testClockId, claim),
    });
  }

  /** Polls the first object on the clock. If all are being polled, waits a moment; the clock then calls this again. */
  private async runOneOn(testClockId: string, claim: string): Promise<void> {
    const { endsAt, owner } = await this.lease();
    const parameters = [testClockId, endsAt, owner, this.clock.now()];
    const ids = await this.leases.begin(
      () => this.database.queryValues<string>(claim, parameters),
      (claimed) => ({ table: this.awaited.table, ids: claimed, endsAt }),
    );
    for (const id of ids) await this.poll({ id, endsAt });
    if (ids.length > 0) return;
    await this.abandoned.runDue();
    await sleep(PAUSE_MS);
  }
}
