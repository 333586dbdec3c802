import { setTimeout as sleep } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { Database, isInterruption } from '../../platform/database';
import { serviceUnavailable } from '../../platform/errors';
import { type TestClockJob, TestClockParticipants } from '../test-clocks';
import { type PolledRepository, type PolledService, ProviderPoller } from './provider-poller';

/**
 * Maximum number of calls to a provider about one payment or refund. After that, a test clock moves on without an
 * answer. Calls whose result was not stored because the database failed do not count.
 */
const MAX_CALLS = 3;

/**
 * Repository of payments or refunds. Its table must also have the columns `customer_id`, `created_at` and
 * `interruptions`.
 */
interface AwaitedRepository extends PolledRepository {
  /**
   * SQL condition: true if the provider has not answered about the payment or refund yet. Applied only to rows with a
   * `due_at`.
   */
  readonly unanswered: string;
}

/** A test clock that waits for a running call checks again after each of these pauses. */
const PAUSES_MS = [100, 200, 400, 800];

/**
 * Polls providers about payments or refunds. A test clock moves on only after these polls, so that an outcome gets the
 * time that the clock still shows:
 * - If an answer is missing, this poller asks again. The process may have stopped during the call, for example.
 * - If a call is running, the test clock waits until it ends.
 * - If the provider announces the outcome for later, the test clock does not wait.
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
    this.leases.countInterruptions(table);
    const source = `
      FROM ${table} WHERE due_at IS NOT NULL AND ${unanswered}
        AND (leased_by IS NOT NULL OR attempts - interruptions < ${MAX_CALLS})
        AND EXISTS (SELECT FROM customer WHERE customer.id = customer_id AND test_clock_id = $1)`;
    const claim = `
      UPDATE ${table} SET due_at = $2, leased_by = $3 WHERE id = (
        SELECT id ${source} AND (leased_by IS NULL OR due_at <= $4)
        ORDER BY created_at, id LIMIT 1 FOR NO KEY UPDATE)
      RETURNING id`;
    const allRunning = `SELECT bool_and(leased_by IS NOT NULL AND due_at > $2) ${source}`;
    this.testClocks.registerJob({
      name: this.job,
      nextDue: `SELECT min(created_at) ${source}`,
      runDue: (testClockId) => this.runOneOn(testClockId, claim, allRunning),
    });
  }

  /**
   * Polls the provider about the oldest unanswered payment or refund of the customers on a test clock. If all of them
   * are being polled already, waits up to 1.5 s until one of the polls has ended. Throws the error of a poll only if
   * the database caused it.
   */
  private async runOneOn(testClockId: string, claim: string, allRunning: string): Promise<void> {
    const { endsAt, owner } = await this.lease();
    const parameters = [testClockId, endsAt, owner, this.clock.now()];
    const ids = await this.leases.begin(
      () => this.database.queryValues<string>(claim, parameters),
      (claimed) => ({ table: this.awaited.table, ids: claimed, endsAt }),
    );
    for (const id of ids) {
      const error = await this.tryToPoll({ id, endsAt });
      if (isInterruption(error)) throw error;
    }
    if (ids.length > 0) return;
    await this.abandoned.runDue();
    for (const pauseMs of PAUSES_MS) {
      await sleep(pauseMs);
      if (this.stopping) throw serviceUnavailable('The service is stopping.');
      const now = this.clock.now();
      if (!(await this.database.queryValue<boolean>(allRunning, [testClockId, now]))) return;
    }
  }
}
