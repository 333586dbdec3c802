import { verifyLedger } from '../support/ledger';
import { post, startTestApp, Story, type Invoice, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';
const END = '2026-04-01T00:00:00.000Z';

interface Note {
  readonly net: number;
  readonly tax: number;
  readonly total: number;
  readonly credited_to_balance: number;
}

/** A charge of 100 with 19 tax, lowered by 33 with 6 tax: 67 with 13 tax are left. */
describe('credit notes of a charge that was lowered', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  async function begin(inclusive = false, ...percentages: readonly string[]): Promise<Story> {
    const ids: string[] = [];
    for (const percentage of percentages.length === 0 ? ['19'] : percentages) {
      const { id } = await post(engine, '/v1/tax-rates', { name: 'VAT', percentage, inclusive });
      ids.push(id);
    }
    return Story.begin(engine, START, { tax_rate_ids: ids });
  }

  /** Sells prices in advance, each with an amount and a maximum or null, and returns their first invoice. */
  async function billed(
    story: Story,
    prices: readonly (readonly [number, number | null])[],
    terms: object,
  ): Promise<Invoice> {
    const price = { model: 'per_unit', timing: 'in_advance' };
    const plan = await story.planOf(
      prices.map(([unit, most], place) => ({
        ...price,
        name: `Seats ${place}`,
        unit_amount: String(unit),
        ...(most === null ? {} : { maximum_amount: most }),
      })),
    );
    await story.subscribe(plan.id, { ...terms });
    return firstOf(story);
  }

  /** Sells a seat for 1.00, lowered to a maximum of 0.67. */
  async function sold(fields: object = { collection: 'send_invoice' }) {
    const story = await begin();
    const price = { name: 'Seats', model: 'per_unit', timing: 'in_advance', unit_amount: '100' };
    const plan = await story.planOf([{ ...price, maximum_amount: 67 }]);
    const subscription = await story.subscribe(plan.id, { ...fields });
    const invoice = await firstOf(story);
    expect(invoice.lines.map(({ type, amount, tax }) => [type, amount, tax])).toEqual([
      ['recurring', 100, 19],
      ['maximum', -33, -6],
    ]);
    return { story, subscription, invoice };
  }

  async function firstOf(story: Story): Promise<Invoice> {
    const [invoice] = await story.invoices();
    if (invoice === undefined) throw new Error('There is no invoice.');
    return invoice;
  }

  /** Issues a note of amounts for the first lines of an invoice. */
  const issue = ({ id, lines }: Invoice, ...amounts: readonly number[]): Promise<Note> =>
    post<Note & { id: string }>(engine, '/v1/credit-notes', {
      invoice_id: id,
      lines: amounts.map((amount, place) => ({ invoice_line_id: lines[place]?.id, amount })),
      reason: 'Not as agreed',
      settle: 'credit',
    });

  async function repeat(times: number, invoice: Invoice, ...amounts: readonly number[]) {
    const notes: Note[] = [];
    while (notes.length < times) notes.push(await issue(invoice, ...amounts));
    return notes.map(({ tax }) => tax).reduce((sum, tax) => sum + tax, 0);
  }

  const read = async <Answer>(path: string): Promise<Answer> =>
    (await engine.http.get(path)).body as Answer;

  /** Asserts that the only invoice of a customer is settled, and that the customer got nothing. */
  async function expectSettled(story: Story): Promise<void> {
    expect(await firstOf(story)).toMatchObject({ status: 'paid', amount_remaining: 0 });
    expect(await read(`/v1/customers/${story.customerId}/balance`)).toMatchObject({ balance: 0 });
    await story.verify();
  }

  /** Asserts the same as {@link expectSettled}, and that no account has a balance. */
  async function expectNothingLeft(story: Story): Promise<void> {
    const path = `/v1/ledger/accounts?customer_id=${story.customerId}`;
    const { data } = await read<{ data: { account: string; balance: string }[] }>(path);
    expect(data.filter(({ balance }) => balance !== '0')).toEqual([]);
    await expectSettled(story);
  }

  it.each([
    [5, 3, 5],
    [1, 2, 0],
  ])('take the rest when an unpaid subscription expires after %d notes of %d', async (...of) => {
    const [times, amount, tax] = of;
    const terms = { payment_behavior: 'default_incomplete', collection: 'automatic' };
    const { story, invoice } = await sold(terms);
    expect(await repeat(times, invoice, amount)).toBe(tax);
    await story.advance('2026-03-03T00:00:00.000Z');
    const { data } = await read<{ data: Note[] }>(`/v1/credit-notes?invoice_id=${invoice.id}`);
    const net = 67 - times * amount;
    expect(data[0]).toMatchObject({ net, tax: 13 - tax, credited_to_balance: 0 });
    await expectNothingLeft(story);
  });

  it.each<[string, boolean, string, (readonly [number, number | null])[]]>([
    [
      'inclusive tax',
      true,
      '20',
      [
        [14, 0],
        [11, null],
        [18, null],
        [42, 18],
        [44, 34],
      ],
    ],
    [
      'a negative tax',
      false,
      '5',
      [
        [1010, 0],
        [776, null],
        [1105, 342],
        [95, 6],
      ],
    ],
  ])('take what is owed when an unpaid subscription expires with %s', async (...of) => {
    const [, inclusive, percentage, prices] = of;
    const story = await begin(inclusive, percentage);
    const terms = { payment_behavior: 'default_incomplete', collection: 'automatic' };
    const invoice = await billed(story, prices, terms);
    await post(engine, '/v1/credit-notes', {
      invoice_id: invoice.id,
      lines: [{ invoice_line_id: invoice.lines[1]?.id, amount: 1 }],
      reason: 'Not as agreed',
      settle: 'credit',
    });
    await story.advance('2026-03-03T00:00:00.000Z');
    await expectSettled(story);
  });

  it.each([
    ['together', [[0, 1, 3]]],
    ['one by one', [[0], [1], [3]]],
  ])('credit all lines %s beside a charge lowered to 0 with a tax of -1', async (_, notes) => {
    const story = await begin(false, '19', '5.5');
    const prices = [
      [9, null],
      [3, null],
      [8, 0],
      [9, null],
    ] as const;
    const invoice = await billed(story, prices, { collection: 'send_invoice' });
    expect(invoice.lines.map(({ amount, tax }) => [amount, tax])).toEqual([
      [9, 3],
      [3, 1],
      [8, 1],
      [9, 2],
      [-8, -2],
    ]);
    for (const places of notes) {
      const of = places.map((place) => invoice.lines[place]);
      await post(engine, '/v1/credit-notes', {
        invoice_id: invoice.id,
        lines: of.map((line) => ({ invoice_line_id: line?.id, amount: line?.amount })),
        reason: 'Not as agreed',
        settle: 'credit',
      });
    }
    await expectNothingLeft(story);
    // The line has 1 tax left, which the tax of -1 uses up.
    const rest = await engine.http.post('/v1/credit-notes').send({
      invoice_id: invoice.id,
      lines: [{ invoice_line_id: invoice.lines[3]?.id, amount: 0 }],
      reason: 'Not as agreed',
      settle: 'credit',
    });
    expect([rest.status, rest.body]).toEqual([
      422,
      expect.objectContaining({
        code: 'credit_takes_nothing',
        errors: [expect.objectContaining({ pointer: '/lines/0/amount' })],
      }),
    ]);
  });

  it('take no tax at one rate that another rate gave back', async () => {
    const story = await begin(false, '19', '1');
    const prices = [
      [155, 2],
      [1276, 44],
    ] as const;
    const invoice = await billed(story, prices, { collection: 'send_invoice' });
    expect(await issue(invoice, 2)).toMatchObject({ net: 2, tax: 0 });
    await story.verify();
  });

  it.each([
    ['more', 5, 2, 0],
    ['less', 5, 3, 5],
    ['none', 15, 3, 13],
  ])('leave %s of the tax to the last one after %s notes of %d', async (...of) => {
    const [, times, amount, tax] = of;
    const { story, invoice } = await sold();
    expect(await repeat(times, invoice, amount)).toBe(tax);
    expect(await issue(invoice, 67 - times * amount)).toMatchObject({ tax: 13 - tax });
    await expectNothingLeft(story);
  });

  it('leave no tax to the credit of an end', async () => {
    const { story, subscription, invoice } = await sold();
    await post(engine, `/v1/invoices/${invoice.id}/pay`, { provider: 'manual' });
    expect(await repeat(15, invoice, 3)).toBe(13);
    await story.command(subscription.id, 'cancel', { when: 'now', credit_unused: true });
    const credit = (await story.invoices()).at(-1);
    // 30 of 31 days of the 22 that the notes left.
    expect(credit?.lines.map(({ amount, tax }) => [amount, tax])).toEqual([[-21, 0]]);
    await story.verify();
  });

  it.each([
    [5, 2, 0],
    [5, 3, 5],
    [15, 3, 13],
  ])('share the tax of usage with a later correction: %d notes of %d', async (...of) => {
    const [times, amount, tax] = of;
    const story = await begin();
    const { id: meter_id, event } = await story.meter();
    const price = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const plan = await story.planOf([{ ...price, meter_id }]);
    await story.subscribe(plan.id, { collection: 'send_invoice' });
    await story.reportUsage(event, START, { n: 10 });
    await story.advance(END);
    await story.reportUsage(event, START, { n: -3.3 });
    await story.advance('2026-05-01T00:00:00.000Z');
    const [invoice, correction] = await story.invoices();
    expect(correction?.lines.map((line) => [line.amount, line.tax])).toEqual([[-33, -6]]);
    if (invoice === undefined) throw new Error('There is no invoice.');
    expect(await repeat(times, invoice, amount)).toBe(tax);
    expect(await issue(invoice, 67 - times * amount)).toMatchObject({ tax: 13 - tax });
    await expectNothingLeft(story);
  });

  it.each([
    [0, 0],
    [3, 3],
  ])('credit groups of usage below a common maximum after %d notes', async (times, tax) => {
    const story = await begin();
    const { id: meter_id, event } = await story.meter({ group_by: ['zone'] });
    const price = { name: 'Calls', model: 'per_unit', timing: 'in_arrears', unit_amount: '10' };
    const terms = { meter_id, by_group: true, maximum_amount: 67 };
    const plan = await story.planOf([{ ...price, ...terms }]);
    await story.subscribe(plan.id, { collection: 'send_invoice' });
    await story.reportUsage(event, START, { n: 6, zone: 'a' });
    await story.reportUsage(event, START, { n: 4, zone: 'b' });
    await story.advance(END);
    const invoice = await firstOf(story);
    expect(invoice.lines.map(({ amount }) => amount)).toEqual([60, 40, -33]);
    expect(await repeat(times, invoice, 2, 2)).toBe(tax);
    const rest = await issue(invoice, 60 - 2 * times, 7 - 2 * times);
    expect(rest).toMatchObject({ net: 67 - 4 * times, tax: 13 - tax });
    await expectNothingLeft(story);
  });

  it('are compared with what was billed by the verification of the ledger', async () => {
    const { story, invoice } = await sold();
    await issue(invoice, 67);
    const charge = invoice.lines[0]?.id;
    const change = (minor: number) =>
      engine.database.query(
        `UPDATE invoice_line SET credited_net = credited_net + ${minor} WHERE id = '${charge}'`,
      );
    await change(1);
    const { checks } = await verifyLedger(engine);
    await change(-1);
    expect(checks.filter(({ offending }) => offending.length > 0)).toContainEqual({
      name: 'credit_notes_stay_within_their_lines',
      ok: false,
      offending: [`${charge}: net 67, credited 68, tax 13, credited 13`],
    });
    await story.verify();
  });
});
