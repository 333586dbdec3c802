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

  type Failures = Readonly<Record<string, readonly string[]>>;

  /** Damages stored rows, returns the checks that fail then, and repairs the rows. */
  async function failuresAfter(damage: string, repair: string): Promise<Failures> {
    await engine.database.query(damage);
    const { checks } = await verifyLedger(engine);
    await engine.database.query(repair);
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    return Object.fromEntries(
      checks.filter(({ ok }) => !ok).map(({ name, offending }) => [name, offending]),
    );
  }

  /** Adds 1, or `change`, to stored amounts, returns the checks that fail then, and restores the amounts. */
  function failuresWithOneMoreIn(
    table: string,
    columns: string,
    where: string,
    id: string,
    change: 1 | -1 = 1,
  ): Promise<Failures> {
    const add = (amount: number) => {
      const changes = columns.split(', ').map((column) => `${column} = ${column} + ${amount}`);
      return `UPDATE ${table} SET ${changes.join(', ')} WHERE ${where} = '${id}'`;
    };
    return failuresAfter(add(change), add(-change));
  }

  /** Exchanges stored amounts of two rows, returns the checks that fail then, and exchanges them again. */
  function failuresWithExchanged(
    table: string,
    columns: string,
    [one, other]: readonly [string, string],
  ): Promise<Failures> {
    const theirs = columns.split(', ').map((column) => `theirs.${column}`);
    const exchange = `
      UPDATE ${table} SET (${columns}) = ROW (${theirs.join(', ')}) FROM ${table} AS theirs
      WHERE ${table}.id IN ('${one}', '${other}') AND theirs.id IN ('${one}', '${other}')
        AND theirs.id <> ${table}.id`;
    return failuresAfter(exchange, exchange);
  }

  const openInvoice = async (customer: string, amount: number): Promise<string> => {
    const lines = [{ description: 'Work', amount }];
    const id = await post('invoices', { customer_id: customer, currency: 'EUR', lines });
    await engine.http.post(`/v1/invoices/${id}/finalize`).expect(200);
    return id;
  };

  describe('finds amounts that are stored at another object of the same customer:', () => {
    let customer: string;

    beforeAll(async () => {
      customer = await createCustomer(engine);
    });

    it('a reserve at another invoice', async () => {
      const invoices = [
        await openInvoice(customer, 1_000),
        await openInvoice(customer, 700),
      ] as const;
      await post(`invoices/${invoices[0]}/pay`, {
        provider: 'sandbox',
        payment_method_id: 'pm_sandbox_pending',
      });
      expect(await failuresWithExchanged('invoice', 'amount_pending', invoices)).toEqual({
        payments_under_way_equal_invoices_reserved: [
          `${invoices[0]} EUR: payments 1000, invoices 0`,
          `${invoices[1]} EUR: payments 0, invoices 1000`,
        ],
      });
    });

    it('refunded money and reserves at another payment', async () => {
      const of = { customer_id: customer, currency: 'EUR' };
      const one = await createPayment(engine, of);
      const other = await createPayment(engine, of);
      await post(`refunds/payment/${one}`, { amount: 2_500 });
      expect(await failuresWithExchanged('payment', 'amount_refunded', [one, other])).toEqual({
        refunds_equal_payments_refunded: [
          `${one} EUR: refunds 2500, payments 0`,
          `${other} EUR: refunds 0, payments 2500`,
        ],
      });
      const pending = { ...of, payment_method_id: 'pm_sandbox_refund_pending' };
      const waiting = await createPayment(engine, pending);
      await post(`refunds/payment/${waiting}`, { amount: 700 });
      const reserved = 'amount_refund_pending';
      expect(await failuresWithExchanged('payment', reserved, [waiting, other])).toEqual({
        refunds_under_way_equal_payments_reserved: expect.arrayContaining([
          `${waiting} EUR: refunds 700, payments 0`,
        ]) as string[],
      });
    });

    it('money at another payment', async () => {
      const of = { customer_id: customer, currency: 'EUR' };
      const one = await createPayment(engine, of);
      const other = await createPayment(engine, { ...of, amount: 4_000 });
      expect(await failuresWithExchanged('payment', 'amount', [one, other])).toEqual({
        payments_less_refunds_equal_cash_clearing: [
          `sandbox ${one} EUR: stored 4000, ledger 10000`,
          `sandbox ${other} EUR: stored 10000, ledger 4000`,
        ],
        payments_not_applied_equal_their_credits: [
          `${one} EUR: payments 4000, credits 10000`,
          `${other} EUR: payments 10000, credits 4000`,
        ],
      });
    });

    it('totals at another invoice', async () => {
      const of = await createCustomer(engine);
      const [one, other] = [await openInvoice(of, 1_000), await openInvoice(of, 700)];
      const move = (amount: number) => `
        UPDATE invoice SET subtotal = subtotal + change, total = total + change, amount_due = amount_due + change
        FROM (VALUES ('${one}', ${amount}), ('${other}', ${-amount})) AS moved (invoice_id, change) WHERE id = invoice_id`;
      expect(await failuresAfter(move(100), move(-100))).toMatchObject({
        invoices_equal_their_lines: [
          `${one} subtotal EUR: invoices 1100, lines 1000`,
          `${other} subtotal EUR: invoices 600, lines 700`,
        ],
      });
    });

    it('amounts at the line of another invoice', async () => {
      const vat = await post('tax-rates', { name: 'VAT', percentage: '20' });
      const taxed = await createCustomer(engine, { tax_rate_ids: [vat] });
      const invoices = [await openInvoice(taxed, 1_000), await openInvoice(taxed, 700)];
      const lines = await engine.database.queryValues<string>(
        'SELECT id FROM invoice_line WHERE invoice_id = ANY ($1) ORDER BY invoice_id',
        [invoices],
      );
      const pair = [lines[0] ?? '', lines[1] ?? ''] as const;
      const checks = async (columns: string) =>
        Object.keys(await failuresWithExchanged('invoice_line', columns, pair));
      expect(await checks('amount, net')).toEqual([
        'invoices_equal_their_lines',
        'revenue_equals_invoices_less_credit_notes',
      ]);
      expect(await checks('tax')).toEqual([
        'invoices_equal_their_lines',
        'taxes_equal_invoices_less_credit_notes',
      ]);
    });
  });

  it('finds lines whose credited amounts differ from their credits', async () => {
    const vat = await post('tax-rates', { name: 'VAT', percentage: '25', inclusive: true });
    const customer = await createCustomer(engine, { tax_rate_ids: [vat] });
    const invoice = await openInvoice(customer, 1_000);
    const [line = ''] = await engine.database.queryValues<string>(
      'SELECT id FROM invoice_line WHERE invoice_id = $1',
      [invoice],
    );
    const note = { invoice_id: invoice, reason: 'Late', settle: 'credit' };
    await post('credit-notes', { ...note, lines: [{ invoice_line_id: line, amount: 200 }] });
    const failuresWith = (column: string, damaged: string, stored: string) =>
      failuresAfter(
        `UPDATE invoice_line SET ${column} = ${damaged} WHERE id = '${line}'`,
        `UPDATE invoice_line SET ${column} = ${stored} WHERE id = '${line}'`,
      );
    expect(await failuresWith('credited', '0', '250')).toEqual({
      credited_lines_equal_their_credits: [`${line} credited EUR: lines 0, credits 250`],
    });
    expect(await failuresWith('credited_net', '0', '200')).toEqual({
      credited_lines_equal_their_credits: [`${line} net EUR: lines 0, credits 200`],
    });
    const shares = `'[{"taxRateId": "${vat}", "taxMinor": {"$bigint": "50"}}]'`;
    expect(await failuresWith('credited_tax_shares', `'[]'`, shares)).toEqual({
      credited_lines_equal_their_credits: [`${line} tax EUR: lines 0, credits 50`],
    });
  });

  it('finds numbers of invoices and credit notes with a gap', async () => {
    await openInvoice(await createCustomer(engine), 100);
    const last = `(SELECT max(number) FROM invoice WHERE starts_with(number, 'INV-'))`;
    const failures = await failuresAfter(
      `UPDATE invoice SET number = 'INV-900000' WHERE number = ${last}`,
      `UPDATE invoice SET number = (SELECT 'INV-' || lpad((next_number - 1)::text, 6, '0') FROM invoice_series WHERE name = 'INV')
       WHERE number = 'INV-900000'`,
    );
    expect(failures).toEqual({
      numbers_have_no_gap: [expect.stringMatching(/^INV: last \d+, stored \d+, greatest 900000$/)],
    });
    const take = (change: number) =>
      `UPDATE invoice_series SET next_number = next_number + ${change} WHERE name = 'CN'`;
    expect(await failuresAfter(take(1), take(-1))).toEqual({
      numbers_have_no_gap: [expect.stringMatching(/^CN: last \d+, stored \d+, greatest \d+$/)],
    });
  });

  it('finds a coupon that was redeemed more often than it counts', async () => {
    const terms = { type: 'percent', percent_off: '10', duration: 'once' };
    const coupon = await post('coupons', { code: 'ONCE', ...terms });
    expect(await failuresWithOneMoreIn('coupon', 'times_redeemed', 'id', coupon)).toEqual({
      redemptions_equal_coupons: [`${coupon}: times_redeemed 1, redemptions 0`],
    });
  });

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
      payments_less_refunds_equal_cash_clearing: [
        `sandbox ${refund} USD: stored -2501, ledger -2500`,
      ],
      refunds_equal_payments_refunded: [`${payment} USD: refunds 2501, payments 2500`],
    });
    const reserved = await failuresWithOneMoreIn('payment', 'amount_refund_pending', 'id', payment);
    expect(reserved).toEqual({
      refunds_under_way_equal_payments_reserved: [`${payment} USD: refunds 0, payments 1`],
    });
  });

  it('finds a payment that lost more than its disputes', async () => {
    const customer = await createCustomer(engine);
    const payment = await createPayment(engine, { customer_id: customer });
    expect(await failuresWithOneMoreIn('payment', 'amount_lost', 'id', payment)).toEqual({
      lost_disputes_equal_payments_lost: [`${payment} USD: disputes 0, payments 1`],
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
      invoices_equal_their_lines: [`${invoice} tax EUR: invoices 301, lines 300`],
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
      `${invoice} subtotal EUR: invoices 1500, lines 1501`,
    );
  });

  describe('compares deferred revenue with lines:', () => {
    let customer: string;
    let invoice: string;
    let subscription: string;
    let note: string;

    beforeAll(async () => {
      customer = await createCustomer(engine);
      const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 }];
      const plan = { code: 'pro', name: 'Pro', currency: 'EUR', interval: 'month', prices };
      subscription = await post('subscriptions', {
        customer_id: customer,
        plan_id: await post('plans', plan),
        collection: 'send_invoice',
      });
      const { body } = await engine.http.get(`/v1/invoices?customer_id=${customer}`);
      const [first] = (body as { data: { id: string; lines: { id: string }[] }[] }).data;
      invoice = first?.id ?? '';
      note = await post('credit-notes', {
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

    it('finds a running subscription that is never billed again', async () => {
      const next = await engine.database.queryValue<Date>(
        'SELECT next_billing_at FROM subscription WHERE id = $1',
        [subscription],
      );
      const set = (value: string) =>
        `UPDATE subscription SET next_billing_at = ${value} WHERE id = '${subscription}'`;
      const failures = await failuresAfter(set('NULL'), set(`'${next?.toISOString() ?? ''}'`));
      expect(failures).toEqual({ running_subscriptions_have_due_work: [subscription] });
    });

    it('finds a running subscription with a price that is not billed any more', async () => {
      const set = (column: string, value: string) =>
        `UPDATE subscription_item SET ${column} = ${value} WHERE subscription_id = '${subscription}'`;
      const failures = await failuresAfter(set('end_at', 'start_at'), set('end_at', 'NULL'));
      expect(failures).toMatchObject({ running_subscriptions_bill_their_prices: [subscription] });
    });

    it('finds a running subscription that bills a price of another plan, and a change mends it', async () => {
      const prices = [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 3_000 }];
      const plan = { code: 'other', name: 'Other', currency: 'EUR', interval: 'month', prices };
      const other = await post('plans', plan);
      const change = (body: object) =>
        engine.http
          .post(`/v1/subscriptions/${subscription}/change`)
          .send({ when: 'now', proration: 'none', ...body })
          .expect(200);
      await change({ plan_id: other });
      await engine.database.query(
        `UPDATE subscription_item SET end_at = CASE WHEN end_at IS NULL THEN start_at END WHERE subscription_id = $1`,
        [subscription],
      );
      expect((await failed()).map(({ name, offending }) => [name, offending])).toEqual([
        ['running_subscriptions_bill_their_prices', [subscription]],
      ]);
      await change({ quantity: '2' });
      await change({ quantity: '1' });
      expect(await failed()).toEqual([]);
    });

    it('finds a credit note whose deferred part differs from its posting', async () => {
      const one = ['credit_note', 'deferred', 'invoice_id', invoice] as const;
      expect(await failuresWithOneMoreIn(...one, -1)).toEqual({
        deferred_parts_of_credit_notes_equal_postings: [
          `${note} EUR: credit notes 399, ledger 400`,
        ],
      });
    });
  });
});
