import { violatedConstraint } from '../../src/platform/database';
import { createCustomer, createMeter } from '../support/billing';
import { recordDispute } from '../support/disputes';
import { post } from '../support/requests';
import { startTestApp, type TestApp } from '../support/test-app';

const OF = (table: string, where = 'true'): string =>
  `id = (SELECT id FROM ${table} WHERE ${where} ORDER BY id LIMIT 1)`;
const DRAFT = OF('invoice', `status = 'draft'`);
const OPEN = OF('invoice', `status = 'open' AND credit_applied = 0`);
const PAID = OF('invoice', `status = 'paid' AND amount_paid > 0`);
const CHARGE = OF('invoice_line', 'amount > 0 AND tax > 0');
const INCLUSIVE = OF('invoice_line', 'net < amount');
const NOTE = OF('credit_note');

/** Changes that would leave a wrong row: the row, the change, and the constraint or trigger that refuses it. */
const WRONG_ROWS: readonly (readonly [string, string, string, string])[] = [
  ['invoice', OPEN, 'amount_paid = amount_due', 'invoice_settled_check'],
  ['invoice', OPEN, `status = 'paid', paid_at = now()`, 'invoice_settled_check'],
  ['invoice', PAID, 'amount_paid = amount_paid - 1', 'invoice_settled_check'],
  ['invoice', PAID, `status = 'open'`, 'invoice_settled_check'],
  ['invoice', PAID, 'amount_paid = amount_paid + 1', 'invoice_paid_check'],
  ['invoice', PAID, 'paid_at = NULL', 'invoice_closed_check'],
  ['invoice', OPEN, `status = 'void'`, 'invoice_closed_check'],
  ['invoice', OPEN, `status = 'uncollectible'`, 'invoice_closed_check'],
  ['invoice', OPEN, 'finalized_at = NULL', 'invoice_finalized_check'],
  ['invoice', OPEN, 'due_at = NULL', 'invoice_finalized_check'],
  ['invoice', OPEN, 'days_until_due = -1', 'invoice_finalized_check'],
  ['invoice', DRAFT, 'finalized_at = now()', 'invoice_finalized_check'],
  ['invoice', DRAFT, 'amount_paid = 1', 'invoice_draft_check'],
  ['invoice', DRAFT, 'amount_pending = 1', 'invoice_draft_check'],
  [
    'invoice',
    OPEN,
    'credit_applied = 1, amount_due = amount_due - 1, total = total',
    'invoice_credits_check',
  ],
  ['invoice', OF('invoice', 'credit_applied > 0'), `credits = '[]'`, 'invoice_credits_check'],
  ['invoice_line', CHARGE, 'net = net + 1', 'invoice_line_net_check'],
  ['invoice_line', CHARGE, 'amount = amount - 1', 'invoice_line_net_check'],
  ['invoice_line', INCLUSIVE, 'net = net - 1', 'invoice_line_net_check'],
  ['invoice_line', CHARGE, 'credited = -1', 'invoice_line_credited_check'],
  ['invoice_line', CHARGE, 'credited_net = -1', 'invoice_line_credited_check'],
  ['invoice_line', CHARGE, 'credited_net = net + 1', 'invoice_line_credited_check'],
  ['credit_note', NOTE, 'to_credit = -1, to_refund = to_credit + 1', 'credit_note_parts_check'],
  ['credit_note', NOTE, 'to_refund = -1, to_credit = to_credit + 1', 'credit_note_parts_check'],
  ['credit_note', NOTE, 'to_receivable = -1, to_credit = to_credit + 1', 'credit_note_parts_check'],
  ['credit_note', NOTE, 'tax = -1, net = total + 1', 'credit_note_parts_check'],
  ['credit_note', NOTE, 'deferred = -1', 'credit_note_parts_check'],
  ['credit_note', NOTE, 'deferred = net + 1', 'credit_note_parts_check'],
  ['credit_note', NOTE, `lines = '[]'`, 'credit_note_lines_check'],
  ['credit_note', NOTE, `currency = 'USD'`, 'credit_note_owner'],
  ['credit_note', NOTE, 'customer_id = $1', 'credit_note_owner'],
  ['refund', OF('refund'), `currency = 'USD'`, 'refund_owner'],
  ['refund', OF('refund'), 'customer_id = $1', 'refund_owner'],
  ['refund', OF('refund'), 'amount = 0', 'refund_amount_check'],
  ['dispute', OF('dispute'), `currency = 'USD'`, 'dispute_owner'],
  ['dispute', OF('dispute'), 'customer_id = $1', 'dispute_owner'],
  ['dispute', OF('dispute'), 'amount_lost = amount_withdrawn + 1', 'dispute_funds_check'],
  [
    'payment',
    OF('payment', 'amount_refunded > 0'),
    'amount_refunded = amount + 1',
    'payment_refunds_check',
  ],
  ['payment', OF('payment', 'amount_refunded > 0'), 'amount_lost = -1', 'payment_lost_check'],
  ['credit_grant', OF('credit_grant'), 'remaining = amount + 1', 'credit_grant_remaining_check'],
  ['subscription', OF('subscription'), 'quantity = -1', 'subscription_terms_check'],
  ['subscription', OF('subscription'), 'interval_count = 0', 'subscription_terms_check'],
  ['subscription', OF('subscription'), 'days_until_due = -1', 'subscription_terms_check'],
  [
    'subscription',
    OF('subscription'),
    'current_period_end_at = NULL',
    'subscription_running_check',
  ],
  [
    'subscription',
    OF('subscription'),
    `status = 'canceled', next_billing_at = NULL`,
    'subscription_ended_check',
  ],
  [
    'subscription_item',
    OF('subscription_item'),
    'quantity = -1',
    'subscription_item_quantity_check',
  ],
  ['price', OF('price'), 'amount = amount + 1', 'price_immutable'],
  ['plan_version', OF('plan_version'), `interval = 'year'`, 'plan_version_immutable'],
  ['plan_entitlement', 'true', 'value = 1', 'plan_entitlement_immutable'],
  ['shared_trace', 'true', `trace = '{}'`, 'shared_trace_immutable'],
  ['invoice_snapshot', 'true', `snapshots = '{}'`, 'invoice_snapshot_immutable'],
  ['mrr_change', OF('mrr_change'), 'after_minor = 1', 'mrr_change_immutable'],
  ['tax_rate', OF('tax_rate'), 'percentage = 1', 'tax_rate_immutable'],
  ['entitlement', OF('entitlement'), `type = 'static'`, 'entitlement_immutable'],
  ['meter', OF('meter'), `filters = '[{}]'`, 'meter_immutable'],
  ['coupon', OF('coupon'), 'percent_off = 99', 'coupon_immutable'],
  [
    'event_pack',
    'true',
    `data = array_fill('null'::json, ARRAY[cardinality(data)])`,
    'event_pack_kept',
  ],
  ['event_pack', 'true', `data = '{}'`, 'event_pack_kept'],
];

/** Deletions of rows that others are read with, and what refuses them. */
const DELETIONS = [
  ['price', 'price_immutable'],
  ['plan_version', 'plan_version_immutable'],
  ['shared_trace', 'shared_trace_immutable'],
  ['invoice_snapshot', 'invoice_snapshot_kept'],
  ['event_pack', 'event_pack_kept'],
] as const;

const TRUNCATIONS = [
  ['price', 'price_immutable'],
  ['shared_trace', 'shared_trace_immutable'],
  ['invoice_snapshot', 'invoice_snapshot_immutable'],
  ['event_pack', 'event_pack_truncated'],
] as const;

describe('the database', () => {
  let engine: TestApp;
  let stranger: string;

  beforeAll(async () => {
    engine = await startTestApp();
    stranger = await createCustomer(engine);
    await billAll();
  });

  afterAll(() => engine.close());

  const id = async (path: string, body: object): Promise<string> =>
    (await post(engine, path, body)).id;

  async function invoice(customer: string, amount: number): Promise<string> {
    const lines = [{ description: 'Work', amount }];
    return id('/v1/invoices', { customer_id: customer, collection: 'send_invoice', lines });
  }

  const finalize = (invoiceId: string) =>
    post<{ readonly lines: readonly { readonly id: string }[] }>(
      engine,
      `/v1/invoices/${invoiceId}/finalize`,
    );

  /** Makes a row of every kind: drafts, open, paid and credited invoices, a refund, a dispute, and a subscription. */
  async function billAll(): Promise<void> {
    const rates = [
      { name: 'VAT', percentage: '20' },
      { name: 'MwSt', percentage: '19', inclusive: true },
    ];
    const customers: string[] = [];
    for (const rate of rates) {
      const tax_rate_ids = [await id('/v1/tax-rates', rate)];
      customers.push(await createCustomer(engine, { currency: 'EUR', tax_rate_ids }));
    }
    const [customer = '', inclusive = ''] = customers;
    await finalize(await invoice(inclusive, 10_000));
    await finalize(await invoice(customer, 2_000));
    await pay(customer);
    await finalize(await invoice(customer, 5_000));
    await invoice(customer, 1_000);
    await subscribe(customer);
  }

  /** Pays an invoice, refunds a part, loses a part in a dispute, and credits a part that the next invoice uses. */
  async function pay(customer: string): Promise<void> {
    const paid = await invoice(customer, 3_000);
    const { lines } = await finalize(paid);
    const payment = await id(`/v1/invoices/${paid}/pay`, { payment_method_id: 'pm_sandbox_ok' });
    await post(engine, `/v1/refunds/payment/${payment}`, { amount: 100, reason: 'Late' });
    await recordDispute(engine, payment, {
      providerReference: 'dp_1',
      status: 'lost',
      reason: 'fraudulent',
      amount: 50n,
      amountWithdrawn: 50n,
      amountReinstated: 0n,
      isRefundable: false,
      evidenceDueAt: null,
    });
    await post(engine, '/v1/credit-notes', {
      invoice_id: paid,
      lines: [{ invoice_line_id: lines[0]?.id, amount: 200 }],
      reason: 'Late',
      settle: 'credit',
    });
  }

  async function subscribe(customer: string): Promise<void> {
    const meter_id = await createMeter(engine);
    const feature = { key: 'calls', name: 'Calls', type: 'metered', meter_id };
    const entitlement_id = await id('/v1/entitlements', feature);
    const plan_id = await id('/v1/plans', {
      code: 'pro',
      name: 'Pro',
      currency: 'EUR',
      interval: 'month',
      prices: [{ name: 'Base', model: 'flat', timing: 'in_advance', amount: 4_900 }],
      entitlements: [{ entitlement_id, value: '100' }],
    });
    await post(engine, '/v1/coupons', {
      code: 'TEN',
      type: 'percent',
      percent_off: '10',
      duration: 'once',
    });
    await post(engine, '/v1/subscriptions', {
      customer_id: customer,
      plan_id,
      collection: 'send_invoice',
    });
  }

  /** Runs a statement, and takes it back. Returns the number of rows, or the constraint that refused it. */
  async function tried(sql: string, parameters: readonly string[] = []): Promise<unknown> {
    let rows: unknown = null;
    try {
      await engine.database.transaction(async () => {
        rows = (await engine.database.query(sql, parameters)).length;
        throw new Error('rolled back');
      });
    } catch (error) {
      return violatedConstraint(error) ?? rows ?? error;
    }
    return rows;
  }

  it.each(WRONG_ROWS)('refuses in %s where %s: %s', async (table, where, change, constraint) => {
    const found = `SELECT FROM ${table} WHERE ${where}`;
    expect(await tried(found)).toBeGreaterThan(0);
    const sql = `UPDATE ${table} SET ${change} WHERE ${where}`;
    expect(await tried(sql, change.includes('$1') ? [stranger] : [])).toBe(constraint);
  });

  it.each(DELETIONS)('refuses to delete rows of %s that are in use', async (table, constraint) => {
    expect(await tried(`DELETE FROM ${table}`)).toBe(constraint);
  });

  it.each(TRUNCATIONS)('refuses to empty %s', async (table, constraint) => {
    expect(await tried(`TRUNCATE ${table} CASCADE`)).toBe(constraint);
  });

  it('accepts changes of terms that may change, and a rewrite with the same terms', async () => {
    for (const sql of [
      'UPDATE coupon SET is_active = false, percent_off = percent_off',
      'UPDATE tax_rate SET is_active = false, percentage = percentage',
      `UPDATE meter SET name = 'Calls', filters = filters`,
      `UPDATE entitlement SET name = 'Calls', type = type`,
      'UPDATE event_pack SET data = data',
      'UPDATE refund SET customer_id = customer_id, currency = currency',
    ]) {
      expect(await tried(sql)).toEqual(expect.any(Number));
    }
  });
});
