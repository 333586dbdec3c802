import { Client } from 'pg';
import { until } from '../support/until';
import { eventsOf } from '../support/test-app';
import { startTestApp, Story, type Invoice, type TestApp } from '../support/story';

describe('invoices', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ plantsObjects: true });
  });

  afterAll(() => engine.close());

  const begin = (fields: Readonly<Record<string, unknown>> = {}): Promise<Story> =>
    Story.begin(engine, '2026-03-01T00:00:00.000Z', { currency: 'USD', ...fields });

  async function draft(story: Story, ...amounts: readonly number[]): Promise<Invoice> {
    const answer = await engine.http.post('/v1/invoices').send({
      customer_id: story.customerId,
      lines: amounts.map((amount) => ({ description: 'Work', amount })),
    });
    expect(answer.status).toBe(201);
    return answer.body as Invoice;
  }

  const send = (id: string, command: string) =>
    engine.http.post(`/v1/invoices/${id}/${command}`).send({});

  const typesOf = async (id: string): Promise<readonly string[]> =>
    (await eventsOf(engine, id)).map(({ type }) => type);

  it('are drafts without a number until they are finalized', async () => {
    const story = await begin();
    const made = await draft(story, 2_500, 100);
    expect(made).toMatchObject({
      status: 'draft',
      number: null,
      reason: 'one_off',
      total: 2_600,
      amount_due: 2_600,
    });
    const { body } = await send(made.id, 'finalize');
    expect(body).toMatchObject({
      status: 'open',
      number: expect.stringMatching(/^TEST-\d{6}$/) as string,
      finalized_at: '2026-03-01T00:00:00.000Z',
      amount_remaining: 2_600,
    });
    expect((await engine.http.get(`/v1/invoices/${made.id}`)).body).toEqual(body);
    expect(await typesOf(made.id)).toEqual(['invoice.created', 'invoice.finalized']);
    expect((await send(made.id, 'finalize')).body).toMatchObject({
      status: 409,
      code: 'invalid_transition',
      from: 'open',
      to: 'open',
    });
    await story.verify();
  });

  it.each([
    ['alone', (id: string, _customer: string) => `/v1/invoices/${id}`],
    ['in a list', (_id: string, customer: string) => `/v1/invoices?customer_id=${customer}`],
  ])('are read %s with the lines of the same instant while they change', async (_, pathOf) => {
    const story = await begin();
    const made = await draft(story, 2_500);
    const editor = new Client({ connectionString: engine.databaseUrl });
    await editor.connect();
    try {
      await editor.query('BEGIN');
      await editor.query('LOCK TABLE invoice_line');
      const answer = engine.http.get(pathOf(made.id, story.customerId)).then((read) => read);
      // The reader has the invoice, and waits for the lines.
      await until('a waiting reader', async () => {
        const { rows } = await editor.query(
          `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'invoice_line'::regclass
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        );
        return rows.length > 0;
      });
      await editor.query(
        'UPDATE invoice_line SET amount = amount + 5, net = net + 5 WHERE invoice_id = $1',
        [made.id],
      );
      await editor.query(
        `UPDATE invoice SET subtotal = subtotal + 5, total = total + 5, amount_due = amount_due + 5
         WHERE id = $1`,
        [made.id],
      );
      await editor.query('COMMIT');
      const { status, body } = await answer;
      expect(status).toBe(200);
      const read = 'data' in body ? (body as { data: Invoice[] }).data[0] : (body as Invoice);
      expect(read).toMatchObject({ total: 2_500, lines: [{ amount: 2_500 }] });
    } finally {
      await editor.end();
    }
  });

  it('get numbers without a gap, one each, also when finalized concurrently', async () => {
    const customer = await engine.http.post('/v1/customers').send({ name: 'Ada', currency: 'EUR' });
    const body = {
      customer_id: (customer.body as { id: string }).id,
      lines: [{ description: 'Work', amount: 100 }],
    };
    const made = await Promise.all(
      Array.from({ length: 12 }, () => engine.http.post('/v1/invoices').send(body)),
    );
    const ids = made.map((answer) => (answer.body as Invoice).id);
    const answers = await Promise.all([...ids, ...ids].map((id) => send(id, 'finalize')));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array<number>(12).fill(200),
      ...Array<number>(12).fill(409),
    ]);
    const numbers = answers
      .filter(({ status }) => status === 200)
      .map((answer) => (answer.body as Invoice).number);
    expect(numbers.sort()).toEqual(
      Array.from({ length: 12 }, (_, index) => `INV-${String(index + 1).padStart(6, '0')}`),
    );
  });

  it('with a negative total become credit, which pays the next invoices, oldest first, and returns with a void', async () => {
    const story = await begin();
    for (const amount of [-300, -500]) {
      const { body } = await send((await draft(story, amount)).id, 'finalize');
      expect(body).toMatchObject({ status: 'paid', amount_due: 0, credited_to_balance: -amount });
    }
    const first = await send((await draft(story, 400)).id, 'finalize');
    expect(first.body).toMatchObject({ status: 'paid', credit_applied: 400, amount_due: 0 });
    const second = await send((await draft(story, 1_000)).id, 'finalize');
    expect(second.body).toMatchObject({ status: 'open', credit_applied: 400, amount_due: 600 });
    const { id } = second.body as Invoice;
    expect((await send(id, 'void')).body).toMatchObject({
      status: 'void',
      number: expect.any(String) as string,
    });
    const third = await send((await draft(story, 450)).id, 'finalize');
    expect(third.body).toMatchObject({ status: 'open', credit_applied: 400, amount_due: 50 });
    expect(await typesOf(id)).toEqual(['invoice.created', 'invoice.finalized', 'invoice.voided']);
    expect((await send((first.body as Invoice).id, 'void')).body).toMatchObject({
      code: 'invalid_transition',
      from: 'paid',
      to: 'void',
    });
    await story.verify();
  });

  it('can be written off, and voided after that', async () => {
    const story = await begin();
    const { id } = await draft(story, 1_000);
    expect((await send(id, 'mark-uncollectible')).body).toMatchObject({
      code: 'invalid_transition',
    });
    await send(id, 'finalize').expect(200);
    expect((await send(id, 'mark-uncollectible')).body).toMatchObject({
      status: 'uncollectible',
    });
    await story.verify();
    expect((await send(id, 'void')).body).toMatchObject({ status: 'void' });
    expect(await typesOf(id)).toEqual([
      'invoice.created',
      'invoice.finalized',
      'invoice.uncollectible',
      'invoice.voided',
    ]);
    await story.verify();
  });

  it('with credited lines cannot be voided until the credit is voided', async () => {
    const story = await begin();
    const { id } = await story.subscribe(await story.plan(3_100));
    await story.advance('2026-03-11T00:00:00.000Z');
    await story.command(id, 'change', { plan_id: await story.plan(9_300), when: 'now' });
    const [bought, changed] = await story.invoices();
    expect((await send(bought?.id ?? '', 'void')).body).toMatchObject({
      status: 409,
      code: 'invoice_credited',
    });
    await send(changed?.id ?? '', 'void').expect(200);
    await send(bought?.id ?? '', 'void').expect(200);
    await story.advance('2026-04-01T00:00:00.000Z');
    await story.verify();
  });

  it('with amounts beyond the range of JSON numbers are refused', async () => {
    const story = await begin();
    const { id } = await draft(story, 1);
    expect(id).toMatch(/^inv_/);
    const plan = await story.seats('9007199254740');
    const answer = await engine.http
      .post('/v1/subscriptions')
      .send({ customer_id: story.customerId, plan_id: plan, quantity: '99999' });
    expect(answer.body).toMatchObject({ status: 422, code: 'subscription_too_large' });
  });

  it.each([
    ['GET', 'inv_01h455vb4pex5vsknk084sn02q', 'invoice_not_found'],
    ['GET', 'nonsense', 'invoice_not_found'],
    ['POST', 'inv_01h455vb4pex5vsknk084sn02q/finalize', 'invoice_not_found'],
  ])('%s %s is %s', async (method, path, code) => {
    const url = `/v1/invoices/${path}`;
    const answer = await (method === 'GET' ? engine.http.get(url) : engine.http.post(url));
    expect(answer.body).toMatchObject({ status: 404, code });
  });

  it('explain a line from the stored invoice alone', async () => {
    const story = await begin();
    const [mine, other] = [await draft(story, 5), await draft(story, 7)];
    const line = mine.lines[0]?.id ?? '';
    const path = (invoice: Invoice): string =>
      `/v1/invoices/${invoice.id}/lines/${line}/explanation`;
    expect((await engine.http.get(path(mine))).body).toMatchObject({
      matches: true,
      trace: { kind: 'fixed', amount: '5' },
      evaluated: { amount: 5, discount: 0, tax: 0 },
    });
    expect((await engine.http.get(path(other))).body).toMatchObject({
      status: 404,
      code: 'invoice_line_not_found',
    });
  });

  it('report in an explanation when the stored line differs from its trace', async () => {
    const story = await begin();
    const { id, lines } = await draft(story, 500, 500);
    const line = lines[0]?.id ?? '';
    await engine.database.query(
      `UPDATE invoice_line SET trace = jsonb_set(trace, '{amountMinor,$bigint}', '"499"') WHERE id = $1`,
      [line],
    );
    const { body } = await engine.http.get(`/v1/invoices/${id}/lines/${line}/explanation`);
    expect(body).toMatchObject({
      matches: false,
      evaluated: { amount: 499 },
      line: { amount: 500 },
    });
  });
});
