import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { createCustomer } from '../support/billing';
import { startTestApp, type TestApp } from '../support/test-app';
import { withoutTriggers } from '../support/without-triggers';

const LINES = `
  SELECT trace, shared_trace_id FROM invoice_line JOIN invoice ON invoice.id = invoice_id
  ORDER BY invoice.number, invoice_line.id`;

const SNAPSHOTS = 'SELECT parties AS own, snapshot_id FROM invoice ORDER BY number';

/** Stores traces and snapshots in the rows of their invoices, as releases before shared ones did. */
const STORE_ALONE = [
  `UPDATE invoice_line
   SET trace = shared.trace || '{"proration": null}' || coalesce(invoice_line.trace, '{}'), shared_trace_id = NULL
   FROM shared_trace AS shared WHERE shared.id = shared_trace_id`,
  `UPDATE invoice SET parties = shared.snapshots, snapshot_id = NULL
   FROM invoice_snapshot AS shared
   WHERE shared.customer_id = invoice.customer_id AND shared.id = snapshot_id`,
];

interface Explained {
  readonly data: readonly { readonly trace: object }[];
  readonly matches: boolean;
}

describe('what invoices have in common', () => {
  let engine: TestApp;
  let customerId: string;

  beforeEach(async () => {
    engine = await startTestApp();
    engine.clock.set('2026-03-01T00:00:00.000Z');
  });

  afterEach(() => engine.close());

  async function post(path: string, body: object): Promise<string> {
    const answer = await engine.http.post(`/v1/${path}`).send(body).expect(201);
    return (answer.body as { id: string }).id;
  }

  async function subscribe(customer: object = {}): Promise<string> {
    customerId = await createCustomer(engine, { name: 'Ada Lovelace', ...customer });
    const prices = [
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 },
      { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '712.5' },
    ];
    const plan = { code: 'pro', name: 'Pro', currency: 'EUR', interval: 'month', prices };
    return post('subscriptions', {
      customer_id: customerId,
      plan_id: await post('plans', plan),
      quantity: '3',
      collection: 'send_invoice',
    });
  }

  async function renew(worker: TestApp, at: string): Promise<void> {
    worker.clock.set(at);
    while (await worker.app.get(DueSubscriptions).runDue());
  }

  /** Returns the explanations of all invoices, oldest first. */
  async function explanations(): Promise<readonly Explained[]> {
    const rows = await engine.database.query<{ id: string }>(
      'SELECT id FROM invoice ORDER BY number',
    );
    const found: Explained[] = [];
    for (const { id } of rows) {
      const answer = await engine.http.get(`/v1/invoices/${id}/explanation`).expect(200);
      found.push(answer.body as Explained);
    }
    return found;
  }

  const tracesOf = (explained: Explained | undefined): readonly object[] | undefined =>
    explained?.data.map(({ trace }) => trace);

  it('is stored once: the traces of lines, and the snapshots of seller and buyer until one changes', async () => {
    await subscribe();
    await renew(engine, '2026-04-01T00:00:00.000Z');
    await engine.http.patch(`/v1/customers/${customerId}`).send({ name: 'Ada Byron' }).expect(200);
    await renew(engine, '2026-05-01T00:00:00.000Z');
    const lines = await engine.database.query<{ shared_trace_id: string }>(LINES);
    const [base, seats] = lines;
    expect(lines).toEqual([base, seats, base, seats, base, seats]);
    expect(base).toEqual({ trace: null, shared_trace_id: expect.any(String) as unknown });
    expect(seats?.shared_trace_id).not.toBe(base?.shared_trace_id);
    const stored = await engine.database.query<{ snapshot_id: string }>(SNAPSHOTS);
    const [first, second, third] = stored;
    expect(first).toEqual({ own: null, snapshot_id: expect.any(String) as unknown });
    expect(second).toEqual(first);
    expect(third?.snapshot_id).not.toBe(first?.snapshot_id);
    const names = await engine.database.query(
      `SELECT snapshots #>> '{buyer,name}' AS name FROM invoice_snapshot ORDER BY id`,
    );
    expect(names).toEqual([{ name: 'Ada Lovelace' }, { name: 'Ada Byron' }]);
  });

  it('is explained as if each line had its own, also of a proration', async () => {
    const subscriptionId = await subscribe();
    engine.clock.set('2026-03-16T12:00:00.000Z');
    await engine.http
      .post(`/v1/subscriptions/${subscriptionId}/change`)
      .send({ quantity: '5', when: 'now' })
      .expect(200);
    await renew(engine, '2026-04-01T00:00:00.000Z');
    await renew(engine, '2026-05-01T00:00:00.000Z');
    const all = await explanations();
    expect(all.every(({ matches }) => matches)).toBe(true);
    const [, changed, april, may] = all;
    expect(tracesOf(may)).toEqual(tracesOf(april));
    expect(tracesOf(april)).toMatchObject([
      { kind: 'rated', price: { model: 'flat', amount: '4900' }, quantity: '1', proration: null },
      { kind: 'rated', price: { unit_amount: '712.5' }, quantity: '5', proration: null },
    ]);
    expect(tracesOf(changed)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: 'rated',
          quantity: '5',
          proration: { numerator: '16', denominator: '31', unit: 'day' },
        }),
      ]),
    );
  });

  it('is also read from the rows of invoices that a former release stored', async () => {
    await subscribe();
    await renew(engine, '2026-04-01T00:00:00.000Z');
    const before = await explanations();
    for (const statement of STORE_ALONE) await engine.database.query(statement);
    await withoutTriggers(engine, ['DELETE FROM shared_trace', 'DELETE FROM invoice_snapshot']);
    expect((await engine.database.query(SNAPSHOTS))[1]).toMatchObject({
      own: { buyer: { name: 'Ada Lovelace' } },
      snapshot_id: null,
    });
    expect(await explanations()).toEqual(before);
    await renew(engine, '2026-05-01T00:00:00.000Z');
    const [, april, may] = await explanations();
    expect(may?.matches).toBe(true);
    expect(tracesOf(may)).toEqual(tracesOf(april));
  });

  it('does not keep the snapshots of a deleted test clock', async () => {
    const clock = await post('test-clocks', { name: 'March', now: '2026-03-01T00:00:00.000Z' });
    await subscribe({ test_clock_id: clock });
    const snapshots = 'SELECT FROM invoice_snapshot';
    expect(await engine.database.query(snapshots)).toHaveLength(1);
    await engine.http.delete(`/v1/test-clocks/${clock}`).expect(204);
    expect(await engine.database.query(snapshots)).toEqual([]);
  });
});
