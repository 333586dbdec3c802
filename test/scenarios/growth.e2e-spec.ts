import { Client } from 'pg';
import { seedTemplates } from '../../bench/renewals';
import { copyCustomers } from '../../bench/support/copies';
import { listQueries } from '../../bench/support/list-queries';
import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { EventDispatcher } from '../../src/modules/webhooks/delivery/event-dispatcher';
import { startTestApp, type TestApp } from '../support/test-app';

const SIZES = [1_000, 10_000] as const;
const CUSTOMERS_OF_A_COPY = 4;

/** Allows for indexes that are a page deeper, and for the rows of a page of a list that lie further apart. */
const MAX_GROWTH = 1.5;
const MORE_PAGES = 100;

/** A customer who owes is found through several indexes: PostgreSQL 18 reads 7 pages for one, PostgreSQL 15 10. */
const PAGES_OF_DEBTORS = 20 * 12;

const TIMES = 3;

/** One customer in a hundred. */
const OLD_DEBTORS = 100;

/** The audit log has no entries of copied customers. */
const WITHOUT_COPIES = '/v1/audit-log';

/** Connections of the pool; the least that a service may have. */
const CONNECTIONS = 2;

const PAGES = `
  SELECT sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))::integer AS pages
  FROM pg_statio_user_tables`;

/** Stops autovacuum, whose work would be counted too. */
const WITHOUT_AUTOVACUUM = `
  DO $$ DECLARE name regclass; BEGIN
    FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
      EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name);
    END LOOP;
  END $$`;

/**
 * Compares the pages of the database that the same work reads beside 1,000 and beside 10,000 customers. Pages are counted,
 * so a busy machine changes nothing.
 */
describe('beside ten times as many customers', () => {
  let engine: TestApp;
  let client: Client;
  let last = 0;

  beforeAll(async () => {
    engine = await startTestApp({
      environment: { DATABASE_POOL_SIZE: String(CONNECTIONS) },
      plantsEvents: true,
    });
    client = new Client({ connectionString: engine.databaseUrl });
    await client.connect();
    await client.query(WITHOUT_AUTOVACUUM);
    await seedTemplates(await engine.app.getUrl(), null);
  });

  afterAll(async () => {
    await client.end();
    await engine.close();
  });

  /**
   * Returns the pages read so far. A connection reports them on request, and otherwise after a second; one that is busy is asked
   * again, so the sum is read until it stays.
   */
  async function pagesSoFar(): Promise<number> {
    for (let before = -1; ;) {
      await Promise.all(
        Array.from({ length: CONNECTIONS }, () =>
          engine.database.query('SELECT pg_stat_force_next_flush(), pg_sleep(0.01)'),
        ),
      );
      const { rows } = await client.query<{ pages: number }>(PAGES);
      const pages = rows[0]?.pages ?? 0;
      if (pages === before) return pages;
      before = pages;
    }
  }

  /** Returns the pages read since the last call. */
  async function pagesOf(work: () => Promise<unknown>): Promise<number> {
    await work();
    const before = last;
    last = await pagesSoFar();
    return last - before;
  }

  /**
   * Returns the pages that the same work reads. Where there are many, it is done again, because other connections, such as
   * those of reports, tell late what they read.
   */
  async function minPagesOf(work: () => Promise<unknown>): Promise<number> {
    let least = Infinity;
    for (let time = 0; time < TIMES && least > MORE_PAGES; time += 1) {
      least = Math.min(least, await pagesOf(work));
    }
    return least;
  }

  function pagesOfList(path: string): Promise<number> {
    return minPagesOf(async () => {
      const { status } = await engine.uncheckedHttp.get(path);
      expect([path, status]).toEqual([path, 200]);
    });
  }

  async function measure(): Promise<ReadonlyMap<string, number>> {
    const pages = new Map<string, number>();
    last = await pagesSoFar();
    const { rows } = await client.query<{ now: Date; plan: string; customer: string }>(
      `SELECT max(next_billing_at) AS now, max(plan_id) AS plan, max(customer_id) AS customer FROM subscription`,
    );
    const [row] = rows;
    engine.clock.set(row?.now.toISOString() ?? '');
    const due = engine.app.get(DueSubscriptions);
    // The first batch reads what the process then keeps.
    await pagesOf(() => due.runDue());
    pages.set('renewals of a batch of subscriptions', await pagesOf(() => due.runDue()));
    const dispatcher = engine.app.get(EventDispatcher);
    pages.set('a dispatch of events', await pagesOf(() => dispatcher.runDue()));
    const subscription = { customer_id: row?.customer, plan_id: row?.plan };
    pages.set(
      'a subscription',
      await minPagesOf(() => engine.http.post('/v1/subscriptions').send(subscription).expect(201)),
    );
    // After the renewals, so that each size has invoices of renewals to list; with statistics of them, as autovacuum keeps.
    await client.query('ANALYZE');
    last = await pagesSoFar();
    for (const [name, path] of await listQueries(client)) {
      if (!path.startsWith(WITHOUT_COPIES)) pages.set(`list: ${name}`, await pagesOfList(path));
    }
    return pages;
  }

  it('lists, renewals, dispatches and new subscriptions read as many pages', async () => {
    const sized: ReadonlyMap<string, number>[] = [];
    let copied = 0;
    for (const customers of SIZES) {
      const copies = customers / CUSTOMERS_OF_A_COPY;
      await copyCustomers(client, copied + 1, copies);
      copied = copies;
      await client.query('VACUUM ANALYZE');
      sized.push(await measure());
    }
    const [few, many] = sized;

    expect(few?.size).toBeGreaterThan(100);
    const grown = [...(few ?? [])].flatMap(([name, pages]) => {
      const after = many?.get(name) ?? Number.NaN;
      return after <= pages * MAX_GROWTH + MORE_PAGES ? [] : [`${name}: ${pages}, then ${after}`];
    });
    expect(grown).toEqual([]);
  }, 300_000);

  it.each(['sort=total', 'created_from=2000-01-01T00:00:00Z'])(
    'a page of several rare values reads few rows in another order too: %s',
    async (order) => {
      last = await pagesSoFar();
      const path = `/v1/invoices?status=void,uncollectible&${order}`;
      expect(await pagesOfList(path)).toBeLessThan(MORE_PAGES);
    },
  );

  it('a page of the customers who owe reads no other ones, though all of them are old', async () => {
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM customer ORDER BY id LIMIT $1',
      [OLD_DEBTORS],
    );
    const oldest = rows.map(({ id }) => id);
    await client.query(
      `UPDATE invoice SET status = 'paid', paid_at = finalized_at, amount_paid = amount_due
       WHERE status = 'open' AND customer_id <> ALL ($1)`,
      [oldest],
    );
    await client.query('VACUUM ANALYZE');
    last = await pagesSoFar();
    for (const filter of ['', '&currency=EUR', '&test_clock_id=none']) {
      expect(await pagesOfList(`/v1/customers?owing=true${filter}`)).toBeLessThan(PAGES_OF_DEBTORS);
    }
    const ofNone = '/v1/customers?owing=true&currency=GBP';
    expect(await pagesOfList(ofNone)).toBeLessThan(MORE_PAGES);
    const { body } = await engine.uncheckedHttp.get('/v1/customers?owing=true&limit=100');
    const { data } = body as { readonly data: readonly { readonly id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(oldest.toReversed().slice(0, 100));
  });

  it('is found to read more when the index of a filter is missing', async () => {
    const path = '/v1/invoices?status=void';
    expect(await pagesOfList(path)).toBeLessThan(MORE_PAGES);

    await client.query('DROP INDEX invoice_status_time_index');
    last = await pagesSoFar();
    expect(await pagesOfList(path)).toBeGreaterThan(5 * MORE_PAGES);
  });
});
