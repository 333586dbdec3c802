import { randomFrom } from '../support/random';
import { SEED } from '../support/seed';
import { post, startTestApp, Story, type Invoice, type TestApp } from '../support/story';

describe('credit notes of lines of which only tax is left', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const rate = async (percentage: string, inclusive: boolean): Promise<string> =>
    (await post(engine, '/v1/tax-rates', { name: 'VAT', percentage, inclusive })).id;

  /** Creates an open invoice with these lines for a customer of its own. */
  async function billed(
    taxRateIds: readonly string[],
    amounts: readonly number[],
  ): Promise<{ story: Story; invoice: Invoice }> {
    const terms = { currency: 'EUR', tax_rate_ids: taxRateIds };
    const story = await Story.begin(engine, '2026-03-01T00:00:00.000Z', terms);
    const lines = amounts.map((amount) => ({ description: 'Work', amount }));
    const draft = { customer_id: story.customerId, lines };
    const { id } = await post(engine, '/v1/invoices', draft);
    return { story, invoice: await post<Invoice>(engine, `/v1/invoices/${id}/finalize`) };
  }

  const issue = ({ id }: Invoice, parts: readonly (readonly [string | undefined, number])[]) =>
    engine.http.post('/v1/credit-notes').send({
      invoice_id: id,
      lines: parts.map(([line, amount]) => ({ invoice_line_id: line, amount })),
      reason: 'Late',
      settle: 'credit',
    });

  const read = async ({ id }: Invoice): Promise<Invoice> =>
    (await engine.http.get(`/v1/invoices/${id}`)).body as Invoice;

  async function taxPayable({ customerId }: Story): Promise<string> {
    const { body } = await engine.http.get(`/v1/ledger/accounts?customer_id=${customerId}`);
    const { data } = body as { data: { account: string; balance: string }[] };
    return data.find(({ account }) => account === 'tax_payable')?.balance ?? '0';
  }

  it('credit that tax with an amount of 0, alone or beside other lines', async () => {
    const { story, invoice } = await billed([await rate('19', true)], [1, 1, 1, 1]);
    expect(invoice.lines.map(({ amount, tax }) => [amount, tax])).toEqual([
      [1, 1],
      [1, 0],
      [1, 0],
      [1, 0],
    ]);
    const [taxed, ...others] = invoice.lines.map(({ id }) => id);
    const alone = await issue(invoice, [[taxed, 0]]);
    expect(alone).toMatchObject({
      status: 201,
      body: { net: 0, tax: 1, total: 1, applied_to_invoice: 1, lines: [{ amount: 0, tax: 1 }] },
    });
    const { id } = alone.body as { id: string };
    expect(await taxPayable(story)).toBe('0');
    await story.verify();

    await post(engine, `/v1/credit-notes/${id}/void`);
    expect(await read(invoice)).toMatchObject({ status: 'open', amount_remaining: 4 });
    expect(await taxPayable(story)).toBe('-1');
    await story.verify();

    const rest = others.map((line) => [line, 1] as const);
    const whole = await issue(invoice, [[taxed, 0], ...rest]);
    expect(whole.body).toMatchObject({ net: 3, tax: 1, total: 4 });
    expect(await read(invoice)).toMatchObject({ status: 'paid', amount_remaining: 0 });
    expect(await taxPayable(story)).toBe('0');
    await story.verify();
  });

  it('are refused an amount of 0 for any other line', async () => {
    const { story, invoice } = await billed([await rate('19', true)], [1, 1, 1, 1]);
    const [taxed, untaxed] = invoice.lines.map(({ id }) => id);
    const refused = await issue(invoice, [[untaxed, 0]]);
    expect(refused.body).toMatchObject({
      status: 422,
      code: 'credit_takes_nothing',
      creditable_amount: 1,
      errors: [{ pointer: '/lines/0/amount', code: 'takes_nothing' }],
    });
    expect((await issue(invoice, [[taxed, -1]])).body).toMatchObject({ code: 'validation_failed' });
    const twice = await issue(invoice, [
      [taxed, 0],
      [taxed, 0],
    ]);
    expect(twice.body).toMatchObject({
      code: 'credit_takes_nothing',
      detail:
        '/lines/1/amount is 0, but nothing of the line can be credited, or the note names the line twice.',
      creditable_amount: 0,
    });
    await issue(invoice, [[taxed, 0]]).expect(201);
    expect((await issue(invoice, [[taxed, 0]])).body).toMatchObject({
      code: 'credit_takes_nothing',
    });
    await story.verify();
  });

  it('issued at the same time credit the tax once', async () => {
    const { story, invoice } = await billed([await rate('19', true)], [1, 1, 1, 1]);
    const taxed = invoice.lines[0]?.id;
    const answers = await Promise.all([0, 1, 2].map(() => issue(invoice, [[taxed, 0]])));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    await story.verify();
  });

  it('and of all other lines leave no tax and nothing to pay', async () => {
    const random = randomFrom(SEED);
    const below = (limit: number): number => Math.floor(random() * limit);
    for (let run = 0; run < 12; run += 1) {
      const percentages = ['7', '19', '33.3', '60', '100'];
      const inclusive = random() < 0.7;
      const rates = await Promise.all(
        Array.from({ length: 1 + below(2) }, () =>
          rate(percentages[below(percentages.length)] ?? '19', inclusive),
        ),
      );
      const amounts = Array.from({ length: 1 + below(6) }, () => 1 + below(4));
      const { story, invoice } = await billed(rates, amounts);
      let left = invoice.lines.map(({ id, amount, tax }) => ({
        id,
        net: inclusive ? amount - tax : amount,
        tax,
      }));
      while (left.length > 0) {
        const parts = left.filter(() => random() < 0.5);
        if (parts.length === 0) continue;
        const taken = parts.map(
          (line) => [line, line.net === 0 ? 0 : 1 + below(line.net)] as const,
        );
        const amountsOf = taken.map(([{ id }, amount]) => [id, amount] as const);
        const { status, body } = await issue(invoice, amountsOf);
        const isEmpty = taken.some(([{ net, tax }]) => net === 0 && tax === 0);
        expect([status, body]).toMatchObject(
          isEmpty ? [422, { code: 'credit_takes_nothing' }] : [201, {}],
        );
        if (isEmpty) {
          left = left.filter(({ net, tax }) => net > 0 || tax > 0);
          continue;
        }
        left = left
          .map((line) => ({
            ...line,
            net: line.net - (taken.find(([one]) => one === line)?.[1] ?? 0),
          }))
          .filter((line) => line.net > 0 || !taken.some(([{ id }]) => id === line.id));
      }
      expect(await read(invoice)).toMatchObject({ status: 'paid', amount_remaining: 0 });
      expect(await taxPayable(story)).toBe('0');
      await story.verify();
    }
  });
});
