import { startTestApp, Story, type TestApp } from '../support/story';

const on = (date: string): string => `2026-${date}T00:00:00.000Z`;

interface Explained {
  readonly matches: boolean;
  readonly data: readonly {
    readonly line: { readonly id: string; readonly description: string };
  }[];
  readonly next_cursor: string | null;
}

describe('the explanation of an invoice', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const create = async (path: string, body: object): Promise<string> => {
    const answer = await engine.http.post(`/v1/${path}`).send(body);
    expect(answer.status).toBe(201);
    return (answer.body as { id: string }).id;
  };
  const explain = async (id: string, query = ''): Promise<Explained> => {
    const answer = await engine.http.get(`/v1/invoices/${id}/explanation${query}`);
    expect(answer.status).toBe(200);
    return answer.body as Explained;
  };
  const draftOf = (customer_id: string, lines: number): Promise<string> =>
    create('invoices', {
      customer_id,
      currency: 'USD',
      lines: Array.from({ length: lines }, (_, index) => ({
        description: `Item ${index}`,
        amount: 100,
      })),
    });

  it('shows the part of the period that a fee without usage is for', async () => {
    const story = await Story.begin(engine, on('03-16'));
    const meter = await story.meter({ aggregation: 'count' });
    const fee = {
      model: 'graduated',
      timing: 'in_arrears',
      meter_id: meter.id,
      charge_flat_at_zero: true,
      tiers: [{ up_to: null, unit_amount: '1', flat_amount: 3_100 }],
    };
    const { id: plan } = await story.planOf([{ ...fee, name: 'Unused' }]);
    await story.subscribe(plan, { billing_anchor: 'calendar' });
    await story.advance(on('05-02'));
    await story.reportUsage(meter.event, on('05-01'));
    await story.advance(on('06-02'));
    const invoices = await story.invoices();
    const part = { numerator: 16, denominator: 31, unit: 'day' };
    expect(
      invoices.map(({ lines }) => lines.map(({ amount, proration }) => [amount, proration])),
    ).toEqual([[[1_600, part]], [[3_100, null]], [[3_101, null]]]);
    const [first] = invoices;
    const { body } = await engine.http
      .get(`/v1/invoices/${first?.id ?? ''}/lines/${first?.lines[0]?.id ?? ''}/explanation`)
      .expect(200);
    expect(body).toMatchObject({
      matches: true,
      line: { proration: part },
      trace: {
        kind: 'usage',
        zero_usage_proration: { ...part, numerator: '16', denominator: '31' },
      },
    });
  });

  it('shows how the amount due follows from the exact amounts of its lines', async () => {
    const taxRate = await create('tax-rates', { name: 'VAT', percentage: '20' });
    const story = await Story.begin(engine, on('03-01'), {
      currency: 'USD',
      tax_rate_ids: [taxRate],
    });
    const meter = await story.meter({ aggregation: 'count' });
    const { id: plan } = await story.planOf([
      { name: 'Base', model: 'flat', timing: 'in_advance', amount: 2_900 },
      {
        name: 'Calls',
        model: 'graduated',
        timing: 'in_arrears',
        meter_id: meter.id,
        tiers: [
          { up_to: '1', unit_amount: '0' },
          { up_to: null, unit_amount: '1.25' },
        ],
      },
    ]);
    await create('coupons', {
      code: 'TENTH',
      type: 'percent',
      percent_off: '10',
      duration: 'forever',
    });
    await story.subscribe(plan, { collection: 'send_invoice', coupon: 'TENTH' });
    for (let call = 0; call < 3; call += 1) await story.reportUsage(meter.event, on('03-01'));
    const [first] = await story.invoices();
    await engine.http
      .post(`/v1/invoices/${first?.id ?? ''}/pay`)
      .send({ provider: 'sandbox', payment_method_id: 'pm_sandbox_ok' })
      .expect(201);
    const note = await create('credit-notes', {
      invoice_id: first?.id,
      lines: [{ invoice_line_id: first?.lines[0]?.id, amount: 100 }],
      reason: 'Late',
      settle: 'credit',
    });
    await story.advance(on('04-01'));
    const invoice = (await story.invoices()).at(-1);
    expect(invoice).toMatchObject({ subtotal: 2_903, discount: 290, tax: 523, total: 3_136 });

    const totals = {
      subtotal: 2_903,
      discount: 290,
      tax: 523,
      inclusive_tax: 0,
      total: 3_136,
      credit_applied: 120,
      credited_to_balance: 0,
      amount_due: 3_016,
    };
    expect(await explain(invoice?.id ?? '')).toMatchObject({
      invoice_id: invoice?.id,
      currency: 'USD',
      stored: totals,
      evaluated: totals,
      matches: true,
      discounts: [{ percent_off: '10', amount_off: null, amount: 290 }],
      taxes: [
        { tax_rate_id: taxRate, percentage: '20', inclusive: false, taxable: 2_613, tax: 523 },
      ],
      tax_note: null,
      credits: [{ source_id: note, amount: 120 }],
      amount_paid: 0,
      amount_credited: 0,
      amount_remaining: 3_016,
      data: [
        {
          line: { description: 'Base', amount: 2_900 },
          price_name: 'Base',
          trace: { kind: 'rated' },
          exact_amount: '2900',
          rounding: '0',
          matches: true,
        },
        {
          line: { description: 'Calls', amount: 3 },
          price_name: 'Calls',
          trace: { kind: 'usage', parts: [{ quantity: '3', steps: [{ tier: 0 }, { tier: 1 }] }] },
          exact_amount: '2.5',
          rounding: '0.5',
          matches: true,
        },
      ],
      next_cursor: null,
    });
    await story.verify();
  });

  it('shows each line as the explanation of the line alone does', async () => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const subscription = await story.subscribe(await story.seats('1000'), { quantity: '3' });
    await story.advance(on('03-11'));
    await story.command(subscription.id, 'change', { quantity: '5', when: 'now' });
    const invoice = (await story.invoices()).at(-1);
    const { data } = await explain(invoice?.id ?? '');
    expect(data).toHaveLength(2);
    for (const one of data) {
      const path = `/v1/invoices/${invoice?.id ?? ''}/lines/${one.line.id}/explanation`;
      expect((await engine.http.get(path)).body).toEqual(one);
    }
    // 21 of 31 days of 50.00; the credit of the unused part was rounded before.
    expect(data).toMatchObject([
      { exact_amount: '105000/31', rounding: '-3/31', line: { type: 'proration', amount: 3_387 } },
      { exact_amount: null, rounding: null, line: { type: 'credit', amount: -2_032 } },
    ]);
  });

  it('of a draft shows its amounts as last calculated', async () => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const draft = await draftOf(story.customerId, 2);
    expect(await explain(draft)).toMatchObject({
      matches: true,
      evaluated: { total: 200, amount_due: 200 },
      data: [
        { price_name: null, exact_amount: '100', rounding: '0', trace: { kind: 'fixed' } },
        { price_name: null },
      ],
    });
  });

  it('has its lines in pages, in their order', async () => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const draft = await draftOf(story.customerId, 45);
    const seen: string[] = [];
    let cursor = '';
    for (const [length, isLast] of [
      [20, false],
      [20, false],
      [5, true],
    ] as const) {
      const page = await explain(draft, cursor);
      expect(page).toMatchObject({ evaluated: { total: 4_500 }, matches: true });
      expect(page.data).toHaveLength(length);
      expect(page.next_cursor === null).toBe(isLast);
      seen.push(...page.data.map(({ line }) => line.description));
      cursor = `?cursor=${page.next_cursor ?? ''}`;
    }
    expect(seen).toEqual(Array.from({ length: 45 }, (_, index) => `Item ${index}`));
    expect((await explain(draft, '?limit=45')).next_cursor).toBeNull();
    const other = await draftOf(story.customerId, 21);
    const { next_cursor: foreign } = await explain(other);
    for (const refused of [foreign ?? '', 'nonsense']) {
      const { body } = await engine.http.get(`/v1/invoices/${draft}/explanation?cursor=${refused}`);
      expect(body).toMatchObject({ status: 400, code: 'invalid_cursor' });
    }
  });

  it('reports stored amounts that differ from the traces', async () => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const draft = await draftOf(story.customerId, 30);
    const last = (await explain(draft, '?limit=100')).data.at(-1)?.line.id;
    await engine.database.query(
      `UPDATE invoice_line SET trace = jsonb_set(trace, '{amountMinor,$bigint}', '"99"') WHERE id = $1`,
      [last],
    );
    expect(await explain(draft)).toMatchObject({
      matches: false,
      stored: { subtotal: 3_000, total: 3_000, amount_due: 3_000 },
      evaluated: { subtotal: 2_999, total: 2_999, amount_due: 2_999 },
    });
  });

  it('of an invoice with damaged totals shows the difference, and the invoice can be read', async () => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const draft = await draftOf(story.customerId, 2);
    const change = (amount: number) =>
      engine.database.query(
        `UPDATE invoice SET subtotal = subtotal + $2, total = total + $2, amount_due = amount_due + $2 WHERE id = $1`,
        [draft, amount],
      );
    await change(100);
    const explained = await explain(draft);
    expect(explained).toMatchObject({
      matches: false,
      stored: { subtotal: 300, total: 300, amount_due: 300 },
      evaluated: { subtotal: 200, total: 200, amount_due: 200 },
      data: [{ matches: true }, { matches: true }],
    });
    const line = explained.data[0]?.line.id ?? '';
    await engine.http.get(`/v1/invoices/${draft}/lines/${line}/explanation`).expect(200);
    const { body } = await engine.http.get(`/v1/invoices/${draft}`).expect(200);
    expect(body).toMatchObject({ id: draft, subtotal: 300, lines: [{ amount: 100 }, {}] });
    await engine.http.get(`/v1/invoices/${draft}.pdf`).expect(500);
    await change(-100);
    expect(await explain(draft)).toMatchObject({ matches: true });
  });

  it.each([
    ['sum', 'total', 10, '13'],
    ['max', 'greatest', 10, '11'],
    ['latest', 'latest', 10, '11'],
    ['unique', 'distinct_values', 10, '11'],
    ['count', 'events', 10, '13'],
  ])('finds a %s that differs from its events', async (aggregation, column, more, billed) => {
    const story = await Story.begin(engine, on('03-01'), { currency: 'USD' });
    const meter = await story.meter({ aggregation });
    const price = { name: 'Calls', model: 'per_unit', unit_amount: '100', timing: 'in_arrears' };
    const { id: plan } = await story.planOf([{ ...price, meter_id: meter.id }]);
    await story.subscribe(plan, { collection: 'send_invoice' });
    await story.advance(on('03-05'));
    for (const day of ['03-02', '03-03', '03-04']) {
      await story.reportUsage(meter.event, on(day), { n: 1 });
    }
    await story.advance(on('04-01'));
    const right = (await story.invoices()).at(-1);
    const events = { sum: '3', count: '3' }[aggregation] ?? '1';
    expect(await explain(right?.id ?? '')).toMatchObject({
      matches: true,
      data: [{ usage_matches: true, matches: true, trace: { parts: [{ quantity: events }] } }],
    });

    await story.advance(on('04-05'));
    for (const day of ['04-02', '04-03', '04-04']) {
      await story.reportUsage(meter.event, on(day), { n: 1 });
    }
    if (aggregation === 'unique') {
      await engine.database.query(
        `INSERT INTO usage_distinct_value SELECT stream_id, meter_id, start_at, end_at, group_key, gen_random_uuid()
         FROM usage_distinct_value, generate_series(1, $2) WHERE meter_id = $1 AND start_at = $3`,
        [meter.id, more, on('04-03')],
      );
    }
    await engine.database.query(
      `UPDATE usage_bucket SET ${column} = ${column} + $2 WHERE meter_id = $1 AND start_at = $3`,
      [meter.id, more, on(aggregation === 'latest' ? '04-04' : '04-03')],
    );
    await story.advance(on('05-01'));
    const invoice = (await story.invoices()).at(-1);
    const wrong = { usage_matches: false, matches: false, line: { quantity: billed } };
    const explained = await explain(invoice?.id ?? '');
    expect(explained).toMatchObject({ matches: false, data: [wrong] });
    const path = `/v1/invoices/${invoice?.id ?? ''}/lines/${explained.data[0]?.line.id ?? ''}/explanation`;
    expect((await engine.http.get(path)).body).toMatchObject(wrong);
  });

  it.each(['inv_01h455vb4pex5vsknk084sn02q', 'nonsense'])('of %s is not found', async (id) => {
    const { body } = await engine.http.get(`/v1/invoices/${id}/explanation`);
    expect(body).toMatchObject({ status: 404, code: 'invoice_not_found' });
  });
});
