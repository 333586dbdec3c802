import { setTimeout as sleep } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { Database, isInterruption } from '../../platform/database';
import { serviceUnavailable } from '../../platform/errors';
import { type TestClockJob, TestClockParticipants } from '../test-clocks';
import { type PolledRepository, type PolledService, ProviderPoller } from './provider-poller';

/**
 * Number of calls to a provider after which a test clock no longer waits for the answer. Calls whose result was not
 * stored, because the database failed, do not count.
 */
const MAX_CALLS = 3;

/** Repository of the polled objects. Its table has the columns `customer_id`, `created_at` and `interruptions`. */
interface AwaitedRepository extends PolledRepository {
  /** SQL condition for objects with a `due_at`: true if the provider has not answered about the object yet. */
  readonly unanswered: string;
}

/** Pauses, in milliseconds, after which a waiting test clock looks again whether a running call has ended. */
const PAUSES_MS = [100, 200, 400, 800];

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
   * Polls the first object on the clock. Throws the error if the database fails. If all objects are being polled, waits
   * up to 1.5 s until one is not; the clock then calls this again.
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
