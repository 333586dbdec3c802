import { verifyLedger } from './ledger';
import { startTestApp } from './test-app';

const INVOICES = `
  SELECT subscription.metadata ->> 'index' AS subscription, invoice.status, invoice.reason,
    invoice.renews_at, invoice.period_start_at, invoice.period_end_at, invoice.subtotal, invoice.discount,
    invoice.tax, invoice.total, invoice.credit_applied, invoice.amount_due,
    (SELECT jsonb_agg(jsonb_build_array(kind, description, quantity, amount, discount, tax, net, credited,
        is_released OR id IN (SELECT line_id FROM released_line), period_start_at, period_end_at) ORDER BY position)
     FROM invoice_line WHERE invoice_id = invoice.id) AS lines,
    (SELECT jsonb_agg(jsonb_build_array(event.sequence, event.type) ORDER BY event.sequence)
     FROM event WHERE event.object_id = invoice.id) AS events,
    (SELECT jsonb_agg(posted.posting ORDER BY posted.posting::text)
     FROM (SELECT jsonb_build_array(account, amount_minor) AS posting
           FROM ledger_posting JOIN ledger_transaction ON ledger_transaction.id = transaction_id
           WHERE source_id = invoice.id) posted) AS postings
  FROM invoice JOIN subscription ON subscription.id = invoice.subscription_id
  ORDER BY (subscription.metadata ->> 'index')::int, invoice.renews_at`;

const SUBSCRIPTION_ROWS = `
  SELECT metadata ->> 'index' AS subscription, status, current_period_start_at, current_period_end_at,
    next_billing_at, version, lease_ends_at,
    (SELECT jsonb_agg(jsonb_build_array(start_at, end_at, is_closed) ORDER BY start_at)
     FROM subscription_period WHERE subscription_id = subscription.id) AS periods,
    (SELECT jsonb_agg(jsonb_build_array(remaining_amount, applied_amount, ended_at IS NULL))
     FROM coupon_redemption WHERE subscription_id = subscription.id) AS redemptions,
    (SELECT jsonb_agg(jsonb_build_array(event.sequence, event.type) ORDER BY event.sequence)
     FROM event WHERE event.object_id = subscription.id) AS events
  FROM subscription ORDER BY (metadata ->> 'index')::int`;

const NUMBERS = 'SELECT number FROM invoice ORDER BY number';

const BALANCES = `
  SELECT account, sum(amount_minor)::text AS amount, count(*)::int AS postings FROM ledger_posting
  GROUP BY account ORDER BY account`;

/**
 * Returns everything that a renewal run wrote, except ids and the instants at which it ran. Subscriptions are
 * distinguished by the `index` in their metadata.
 */
export async function leftByRenewals(
  databaseUrl: string,
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const engine = await startTestApp({ databaseUrl });
  try {
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
    const [invoices, subscriptions, numbers, balances] = [
      await engine.database.query(INVOICES),
      await engine.database.query(SUBSCRIPTION_ROWS),
      await engine.database.query(NUMBERS),
      await engine.database.query(BALANCES),
    ];
    return { invoices, subscriptions, numbers, balances };
  } finally {
    await engine.close();
  }
}
