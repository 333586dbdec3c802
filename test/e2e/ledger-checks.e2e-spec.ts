import { postRevenueRelease } from '../../src/core/ledger';
import { LedgerService } from '../../src/modules/ledger';
import { newId } from '../../src/platform/ids';
import { createCustomer, createPayment } from '../support/billing';
import { verifyLedger } from '../support/ledger';
import { startTestApp, type TestApp } from '../support/test-app';

describe('the verification of the ledger', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const post = async (path: string, body: object): Promise<string> =>
    ((await engine.http.post(`/v1/${path}`).send(body).expect(201)).body as { id: string }).id;

  /** Adds 1, or `change`, to stored amounts, returns the checks that fail then, and restores the amounts. */
  async function failuresWithOneMoreIn(
    table: string,
    columns: string,
    where: string,
    id: string,
    change: 1 | -1 = 1,
  ): Promise<Readonly<Record<string, readonly string[]>>> {
    const add = (amount: number) => {
      const changes = columns.split(', ').map((column) => `${column} = ${column} + ${amount}`);
      const sql = `UPDATE ${table} SET ${changes.join(', ')} WHERE ${where} = $1`;
      return engine.database.query(sql, [id]);
    };
    await add(change);
    const { checks } = await verifyLedger(engine);
    await add(-change);
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    return Object.fromEntries(
      checks.filter(({ ok }) => !ok).map(({ name, offending }) => [name, offending]),
    );
  }

  it('finds refunds that differ from the refunded and the reserved amount of their payment', async () => {
    const customer = await createCustomer(engine);
    const method = 'pm_sandbox_refund_pending';
    const payment = await createPayment(engine, { customer_id: customer });
    const waiting = await createPayment(engine, {
      customer_id: customer,
      payment_method_id: method,
    });
    const refund = await post(`refunds/payment/${payment}`, { amount: 2_500 });
    await post(`refunds/payment/${waiting}`, { amount: 700 });
    expect(await failuresWithOneMoreIn('refund', 'amount', 'id', refund)).toEqual({
      refunds_equal_payments_refunded: [`${customer} USD: refunds 2501, payments 2500`],
    });
    const reserved = await failuresWithOneMoreIn('payment', 'amount_refund_pending', 'id', payment);
    expect(reserved).toEqual({
      refunds_under_way_equal_payments_reserved: [`${customer} USD: refunds 700, payments 701`],
    });
  });

  it('finds a payment that lost more than its disputes', async () => {
    const customer = await createCustomer(engine);
    const payment = await createPayment(engine, { customer_id: customer });
    expect(await failuresWithOneMoreIn('payment', 'amount_lost', 'id', payment)).toEqual({
      lost_disputes_equal_payments_lost: [`${customer} USD: disputes 0, payments 1`],
    });
  });

  it('finds an invoice whose amounts differ from the sums of its lines', async () => {
    const vat = await post('tax-rates', { name: 'VAT', percentage: '25', inclusive: true });
    const customer = await createCustomer(engine, { tax_rate_ids: [vat] });
    const invoice = await post('invoices', {
      customer_id: customer,
      currency: 'EUR',
      lines: [
        { description: 'Work', amount: 1_000 },
        { description: 'Travel', amount: 500 },
      ],
    });
    await engine.http.post(`/v1/invoices/${invoice}/finalize`).expect(200);
    expect(await failuresWithOneMoreIn('invoice', 'inclusive_tax', 'id', invoice)).toEqual({
      invoices_equal_their_lines: [`${customer} tax EUR: invoices 301, lines 300`],
    });
    const [line] = await engine.database.query<{ id: string }>(
      'SELECT id FROM invoice_line WHERE invoice_id = $1 LIMIT 1',
      [invoice],
    );
    const changed = await failuresWithOneMoreIn(
      'invoice_line',
      'amount, net',
      'id',
      line?.id ?? '',
    );
    expect(changed['invoices_equal_their_lines']).toContain(
      `${customer} subtotal EUR: invoices 1500, lines 1501`,
    );
  });

  describe('compares deferred revenue with lines:', () => {
    let customer: string;
    let invoice: string;

    beforeAll(async () => {
      customer = await createCustomer(engine);
      const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 }];
      const plan = { code: 'pro', name: 'Pro', currency: 'EUR', interval: 'month', prices };
      await post('subscriptions', {
        customer_id: customer,
        plan_id: await post('plans', plan),
        collection: 'send_invoice',
      });
      const { body } = await engine.http.get(`/v1/invoices?customer_id=${customer}`);
      const [first] = (body as { data: { id: string; lines: { id: string }[] }[] }).data;
      invoice = first?.id ?? '';
      await post('credit-notes', {
        invoice_id: invoice,
        lines: [{ invoice_line_id: first?.lines[0]?.id, amount: 400 }],
        reason: 'Late',
        settle: 'credit',
      });
    });

    const release = (amountMinor: bigint) =>
      engine.database.transaction(() =>
        engine.app.get(LedgerService).post(postRevenueRelease('EUR', amountMinor), {
          sourceId: newId('sp'),
          customerId: customer,
          occurredAt: engine.clock.now(),
        }),
      );
    const failed = async () => (await verifyLedger(engine)).checks.filter(({ ok }) => !ok);

    it('finds revenue that was released without a line', async () => {
      expect(await failed()).toEqual([]);
      await release(2_600n);
      expect(await failed()).toEqual([
        {
          name: 'deferred_revenue_equals_lines_not_released',
          ok: false,
          offending: [`${customer} EUR: stored 2600, ledger 0`],
        },
      ]);
      await release(-2_600n);
      expect(await failed()).toEqual([]);
    });

    it('finds a line that was marked as released without a posting', async () => {
      const mark = (isReleased: boolean) =>
        engine.database.query('UPDATE invoice_line SET is_released = $1 WHERE invoice_id = $2', [
          isReleased,
          invoice,
        ]);
      await mark(true);
      expect((await failed()).map(({ offending }) => offending)).toEqual([
        [`${customer} EUR: stored 0, ledger 2600`],
      ]);
      await mark(false);
      expect(await failed()).toEqual([]);
    });

    it('finds a credit note whose deferred part differs from its posting', async () => {
      const one = ['credit_note', 'deferred', 'invoice_id', invoice] as const;
      expect(await failuresWithOneMoreIn(...one, -1)).toEqual({
        deferred_parts_of_credit_notes_equal_postings: [
          `${customer} EUR: credit notes 399, ledger 400`,
        ],
      });
    });
  });
});
