import { Client } from 'pg';
import { DeleteTestClockService } from '../../src/modules/test-clocks/delete-test-clock.service';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { createCoupon } from '../support/coupons';
import { whileFrozen } from '../support/frozen-work';
import { untilSessionsWait, untilStatementWaits } from '../support/lock-waits';
import { startTestApp, Story, type TestApp } from '../support/story';
import { until } from '../support/until';

const START = '2026-03-01T00:00:00.000Z';
const LEASE_MS = 60_000;

/** Other work waits 5 s for a lock. */
const WAITS_LONG = `
  SELECT FROM pg_stat_activity
  WHERE wait_event_type = 'Lock' AND datname = current_database() AND query_start < clock_timestamp() - interval '5.2 s'`;

describe('while a portion of a purge runs for a long time', () => {
  let engine: TestApp;
  let other: TestApp;
  let ice: Client;
  let deletion: DeleteTestClockService;

  beforeAll(async () => {
    engine = await startTestApp();
    other = await startTestApp({ databaseUrl: engine.databaseUrl });
    deletion = engine.app.get(DeleteTestClockService);
    ice = new Client({ connectionString: engine.databaseUrl });
    await ice.connect();
  });

  afterAll(async () => {
    await ice.end();
    await other.close();
    await engine.close();
  });

  /** Purges a portion that stands still before it deletes rows of this table, and continues once `act` has ended. */
  const purgeFrozenAt = (table: string, act: () => Promise<void>): Promise<void> =>
    whileFrozen(engine, `DELETE ON ${table}`, () => deletion.runDue(), act);

  /** Marks the clock as deleted, so that background work purges its customers. */
  async function markDeleted({ clockId }: Story): Promise<void> {
    const sql = 'UPDATE test_clock SET deleted_at = now() WHERE id = $1';
    await engine.database.query(sql, [clockId]);
  }

  async function finish(): Promise<void> {
    while (await deletion.runDue()) continue;
    expect(
      await engine.database.query('SELECT FROM test_clock WHERE deleted_at IS NOT NULL'),
    ).toEqual([]);
  }

  it.each(['usage_event', 'event'])(
    'other customers redeem its coupon while rows of %s are deleted',
    async (table) => {
      const coupon = await createCoupon(engine, {
        type: 'percent',
        percent_off: '10',
        duration: 'forever',
      });
      const [gone, kept] = [await Story.begin(engine, START), await Story.begin(engine, START)];
      const plan = await gone.plan(1_000);
      await gone.subscribe(plan, { coupon: coupon.code });
      await markDeleted(gone);
      await purgeFrozenAt(table, async () => {
        await kept.subscribe(plan, { coupon: coupon.code });
      });
      await finish();
      const { body } = await engine.http.get(`/v1/coupons/${coupon.id}`);
      expect(body).toMatchObject({ times_redeemed: 1 });
    },
  );

  it('it waits longer than other work for a coupon, in the order of their ids', async () => {
    const story = await Story.begin(engine, START);
    const plan = await story.plan(1_000);
    const percent = { type: 'percent', percent_off: '10', duration: 'forever' };
    const coupons: string[] = [];
    for (let made = 0; made < 5; made += 1) {
      const { id, code } = await createCoupon(engine, percent);
      coupons.push(id);
      await story.subscribe(plan, { coupon: code });
    }
    await markDeleted(story);
    const [first, ...later] = coupons.sort();
    // Moves its row behind the others, so that a statement without an order locks the others first.
    await ice.query('UPDATE coupon SET version = version + 1 WHERE id = $1', [first]);
    await ice.query('BEGIN');
    await ice.query('SELECT FROM coupon WHERE id = $1 FOR UPDATE', [first]);
    const purge = deletion.runDue().catch((error: unknown) => error);
    try {
      await untilSessionsWait(engine.database);
      const isFree = 'SELECT FROM coupon WHERE id = ANY ($1) FOR UPDATE NOWAIT';
      await engine.database.query(isFree, [later]);
      await until('the portion has waited longer than other work', async () => {
        const waits = await engine.database.query(WAITS_LONG);
        return waits.length === 1;
      });
    } finally {
      await ice.query('ROLLBACK');
      await purge;
    }
    expect(await purge).toBe(true);
    await finish();
    const left = 'SELECT FROM coupon WHERE id = ANY ($1) AND times_redeemed = 0';
    expect(await engine.database.query(left, [coupons])).toHaveLength(5);
  });

  it('another process leaves the deletion alone, even after the end of the lease', async () => {
    const story = await Story.begin(engine, START);
    await markDeleted(story);
    await purgeFrozenAt('usage_event', async () => {
      other.clock.advanceMs(LEASE_MS);
      expect(await other.app.get(DeleteTestClockService).runDue()).toBe(false);
    });
    await finish();
  });

  it('it waits for locked customers before it locks the clock, so that commands can lock both', async () => {
    const story = await Story.begin(engine, START);
    await markDeleted(story);
    await ice.query('BEGIN');
    await ice.query('SELECT FROM customer WHERE id = $1 FOR UPDATE', [story.customerId]);
    const purge = deletion.runDue();
    await untilSessionsWait(engine.database);
    const clock = 'SELECT FROM test_clock WHERE id = $1 FOR SHARE NOWAIT';
    await ice.query(clock, [story.clockId]).finally(() => ice.query('ROLLBACK'));
    await purge;
    await finish();
  });

  it('an endpoint becomes ordered once the portion has ended, without heads of the deleted events', async () => {
    const path = '/v1/webhooks/endpoints';
    const hook = { url: 'https://example.com/hooks', events: ['customer.created'] };
    const { id } = (await engine.http.post(path).send(hook)).body as { id: string };
    const [gone, kept] = [await Story.begin(engine, START), await Story.begin(engine, START)];
    while (await engine.app.get(EventDispatcher).runDue()) continue;
    await markDeleted(gone);
    let change: PromiseLike<unknown> = Promise.resolve();
    await purgeFrozenAt('event_sequence', async () => {
      change = other.http.patch(`${path}/${id}`).send({ ordered: true }).expect(200).then(Boolean);
      await untilStatementWaits(engine, 'webhook_head');
    });
    await change;
    await finish();
    const heads = 'SELECT object_id FROM webhook_head WHERE endpoint_id = $1';
    expect(await engine.database.queryValues(heads, [id])).toEqual([kept.customerId]);
  });
});
