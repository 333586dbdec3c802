import type { Invoice } from '../support/story';
import { startTestApp, Story, type TestApp } from '../support/story';

const GROUPS = 60;
const ENDED = 20_000;
/** A statement may read each line several times, but not once for each other line. */
const MOST_ROWS = 20 * GROUPS;

const MARCH_2 = '2026-03-02T00:00:00.000Z';

const BY_GROUP = {
  name: 'Calls',
  model: 'per_unit',
  timing: 'in_arrears',
  unit_amount: '10',
  by_group: true,
};

const ENDED_SUBSCRIPTIONS = `
  INSERT INTO usage_closed_subscription (id, customer_id)
  SELECT 'sub_ended_' || n, customer.id FROM generate_series(1, $1::integer) AS n, customer`;

const EARLIER_BILLS = `
  INSERT INTO usage_billed SELECT earlier.*
  FROM usage_billed AS one, generate_series(1, $1::integer) AS n,
    jsonb_populate_record(one, jsonb_build_object(
      'id', 'ub_earlier_' || n, 'item_id', 'si_' || n, 'subscription_id', 'sub_ended_' || n,
      'period_start_at', timestamptz '2026-02-01', 'period_end_at', timestamptz '2026-03-01')) AS earlier
  WHERE one.id = (SELECT min(id) FROM usage_billed)`;

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Returns the number of rows that the steps of a plan returned or left out. */
function rowsOf(node: PlanNode): number {
  const leftOut =
    (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  const own = (node['Actual Rows'] + leftOut) * node['Actual Loops'];
  return (node.Plans ?? []).reduce((total, below) => total + rowsOf(below), own);
}

describe('an invoice with a line for each of many groups', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Explains each statement of the work before it runs, and requires that none processes many more rows than the invoice has lines. */
  async function withFewRows<Result>(work: () => Promise<Result>): Promise<Result> {
    const { database } = engine;
    const many: string[] = [];
    const query = database.query.bind(database);
    const spy = jest.spyOn(database, 'query').mockImplementation(async (sql, parameters) => {
      if (/^\s*(SELECT|WITH|UPDATE|INSERT|DELETE)\b/.test(sql)) {
        const [plan] = await database.transaction(() =>
          database.rolledBack(() =>
            query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
              `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`,
              parameters,
            ),
          ),
        );
        const rows = plan?.['QUERY PLAN'].reduce((sum, { Plan }) => sum + rowsOf(Plan), 0) ?? 0;
        if (rows > MOST_ROWS) many.push(`${rows} rows: ${sql}`);
      }
      return query(sql, parameters);
    });
    try {
      return await work();
    } finally {
      spy.mockRestore();
      expect(many).toEqual([]);
    }
  }

  const send = async (path: string, status: number, body: object = {}): Promise<Invoice> => {
    const answer = await engine.http.post(path).send(body);
    expect([path, answer.status]).toEqual([path, status]);
    return answer.body as Invoice;
  };

  const voidIt = (id: string): Promise<Invoice> =>
    withFewRows(() => send(`/v1/invoices/${id}/void`, 200));

  const regenerate = (id: string): Promise<Invoice> =>
    withFewRows(() => send(`/v1/invoices/${id}/reissue`, 201));

  /** Bills one call of each group. Many other subscriptions, which have ended, billed the same meter a month earlier. */
  async function bill() {
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD' });
    const meter = await story.meter({ aggregation: 'count', group_by: ['region'] });
    const { id: planId } = await story.planOf([{ ...BY_GROUP, meter_id: meter.id }]);
    await story.subscribe(planId, { collection: 'send_invoice' });
    for (let group = 0; group < GROUPS; group += 1) {
      await story.reportUsage(meter.event, MARCH_2, { region: `r${group}` });
    }
    await story.advance('2026-04-01T00:00:00.000Z');
    await engine.database.query(ENDED_SUBSCRIPTIONS, [ENDED]);
    await engine.database.query(EARLIER_BILLS, [ENDED]);
    await engine.database.query('ANALYZE');
    const [invoice] = await story.invoices();
    expect(invoice?.lines).toHaveLength(GROUPS);
    return { story, event: meter.event, id: invoice?.id ?? '' };
  }

  it('is voided, regenerated and credited with statements that process each line a few times', async () => {
    const { story, event, id } = await bill();
    await voidIt(id);
    const again = await regenerate(id);
    const billed = { total: 10 * GROUPS, lines: { length: GROUPS } };
    expect(again).toMatchObject(billed);
    // The lines of the first void invoice have the same item and period.
    await voidIt(again.id);
    const last = await regenerate(again.id);
    expect(last).toMatchObject(billed);
    const lines = last.lines.map((line) => ({ invoice_line_id: line.id, amount: 1 }));
    const note = { invoice_id: last.id, reason: 'Goodwill', settle: 'credit', lines };
    const { id: noteId } = await withFewRows(() => send('/v1/credit-notes', 201, note));
    await withFewRows(() => send(`/v1/credit-notes/${noteId}/void`, 200));
    await withFewRows(() => story.reportUsage(event, MARCH_2, { region: 'r0' }));
    await story.advance('2026-05-01T00:00:00.000Z');
    expect((await story.invoices()).at(-1)).toMatchObject({ total: 10 });
    await engine.database.query(
      "DELETE FROM usage_closed_subscription WHERE id LIKE 'sub_ended_%'",
    );
    await engine.database.query("DELETE FROM usage_billed WHERE id LIKE 'ub_earlier_%'");
    await story.verify();
  });
});
