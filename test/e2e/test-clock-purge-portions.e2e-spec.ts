import { DeleteTestClockService } from '../../src/modules/test-clocks/delete-test-clock.service';
import { createCustomer } from '../support/billing';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

const LEASE_MS = 60_000;
const STATEMENT_TIMEOUT_MS = 3_000;
/** Time to delete one of 20 customers: ten in one statement exceed the statement timeout, five do not. */
const SLOW_SECONDS = 0.36;
const TIMED_OUT = { code: '57014' };

describe('a portion of a purge that exceeds the statement timeout', () => {
  let engine: TestApp;
  let deletion: DeleteTestClockService;

  beforeAll(async () => {
    engine = await startTestApp({
      environment: { DATABASE_STATEMENT_TIMEOUT_MS: `${STATEMENT_TIMEOUT_MS}` },
    });
    deletion = engine.app.get(DeleteTestClockService);
  });

  afterEach(() => engine.database.query('DROP FUNCTION IF EXISTS delay CASCADE'));

  afterAll(() => engine.close());

  async function clockWith(customers: number): Promise<string> {
    const now = engine.clock.now().toISOString();
    const { id } = await post(engine, '/v1/test-clocks', { name: 'Slow', now });
    for (let made = 0; made < customers; made += 1) {
      await createCustomer(engine, { test_clock_id: id });
    }
    return id;
  }

  /** Makes the deletion of each customer take this time. */
  async function slowDown(seconds: number): Promise<void> {
    await engine.database.query(`
      CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_sleep(${seconds}); RETURN OLD; END'`);
    await engine.database.query(
      'CREATE TRIGGER delay BEFORE DELETE ON customer FOR EACH ROW EXECUTE FUNCTION delay()',
    );
  }

  /** Repeats the background work until it has nothing to do. Returns how many of its runs failed. */
  async function runUntilDone(): Promise<number> {
    let failed = 0;
    for (;;) {
      try {
        if (!(await deletion.runDue())) return failed;
      } catch (error) {
        expect(error).toMatchObject(TIMED_OUT);
        failed += 1;
        engine.clock.advanceMs(LEASE_MS);
      }
    }
  }

  const left = (): Promise<number | null> =>
    engine.database.queryValue<number>('SELECT count(*)::int FROM customer');

  it('is halved until it fits, and the request is answered with 204', async () => {
    const id = await clockWith(20);
    await slowDown(SLOW_SECONDS);
    await engine.http.delete(`/v1/test-clocks/${id}`).expect(204);
    expect(await left()).toBe(20);
    // The request tried 20 customers, so the first run tries 10, without waiting for the end of the lease.
    expect(await runUntilDone()).toBeGreaterThan(0);
    expect(await left()).toBe(0);
  });

  it('has more time if it is a single customer, also in its first portion', async () => {
    const id = await clockWith(1);
    await slowDown((1.5 * STATEMENT_TIMEOUT_MS) / 1_000);
    await engine.database.query('UPDATE test_clock SET deleted_at = now() WHERE id = $1', [id]);
    expect(await runUntilDone()).toBe(0);
    expect(await left()).toBe(0);
  });

  it('does not keep the deletions of other clocks waiting', async () => {
    const slow = await clockWith(20);
    await slowDown(SLOW_SECONDS);
    await engine.http.delete(`/v1/test-clocks/${slow}`).expect(204);
    await expect(deletion.runDue()).rejects.toMatchObject(TIMED_OUT);
    const quick = await clockWith(1);
    await engine.database.query('UPDATE test_clock SET deleted_at = now() WHERE id = $1', [quick]);
    expect(await deletion.runDue()).toBe(true);
    expect(await left()).toBe(20);
    await engine.database.query('DROP FUNCTION delay CASCADE');
    engine.clock.advanceMs(LEASE_MS);
    await runUntilDone();
    expect(await left()).toBe(0);
  });
});
