import { DueSubscriptions } from '../../src/modules/billing/subscriptions/due-subscriptions';
import { verifyLedger } from '../support/ledger';
import { type EngineWithStripe, startEngineWithStripe } from '../support/stripe/engine-with-stripe';
import { LostCreditStory } from '../support/stripe/lost-credit-story';

/** Prefixes of the ids of the objects that post to the accounts of the revenue report. */
const SOURCES = `
  SELECT DISTINCT split_part(source_id, '_', 1) AS prefix
  FROM ledger_transaction JOIN ledger_posting ON transaction_id = ledger_transaction.id
  WHERE account IN ('revenue', 'discounts', 'deferred_revenue', 'refunds', 'bad_debt', 'tax_payable')`;

interface Row {
  readonly plan_id: string | null;
  readonly refunds: string;
}

describe('revenue by plan', () => {
  let story: EngineWithStripe;

  beforeAll(async () => {
    story = await startEngineWithStripe();
  });

  afterAll(() => story.close());

  it('contains all postings of a customer with one subscription, whatever posted them', async () => {
    const credit = new LostCreditStory(story);
    const { engine, stripe } = story;
    engine.clock.set('2026-03-01T00:00:00Z');
    const { customer } = await story.customerWith('pm_card_visa');
    const methods = `/v1/customers/${customer}/payment-methods`;
    const confirmed = { provider: 'stripe', token: 'pm_card_authenticationRequired' };
    const { id: payment_method_id } = await story.post(methods, confirmed);
    const price = { name: 'Fee', model: 'flat', timing: 'in_advance', amount: 1_000 };
    const terms = { code: 'pro', name: 'Pro', currency: 'USD', interval: 'month', prices: [price] };
    const { id: plan } = await story.post('/v1/plans', terms);
    await story.post('/v1/subscriptions', {
      customer_id: customer,
      plan_id: plan,
      collection: 'send_invoice',
    });
    const invoices = async () =>
      (await story.get<{ data: readonly { id: string }[] }>(`/v1/invoices?customer_id=${customer}`))
        .data;
    const [first] = await invoices();

    // The credit note lowers the invoice during its payment, so that 4.00 of the payment become credit.
    const payment = await credit.payInvoice(first?.id ?? '', { payment_method_id });
    await credit.note(first?.id ?? '', 400);
    stripe.authenticate(story.intentOf(payment), true);
    await story.notified();
    const reference = await credit.dispute(payment, 100);
    await credit.closeDispute(reference, 'lost');
    // The renewal uses the 3.00 that the dispute left. A refund of 9.00 finds no credit.
    engine.clock.set('2026-04-01T00:00:00Z');
    while (await engine.app.get(DueSubscriptions).runDue());
    const dispute = stripe.account.disputes.get(reference);
    if (dispute !== undefined) dispute.is_charge_refundable = true;
    await credit.refundThere(payment, 900);
    // The bank pays 1.00 back after all. This credit covers a part of the refund.
    if (dispute !== undefined) dispute.status = 'needs_response';
    await credit.closeDispute(reference, 'won');
    // The next invoice is written off, and then paid.
    const second = (await invoices()).find(({ id }) => id !== first?.id)?.id ?? '';
    await engine.http.post(`/v1/invoices/${second}/mark-uncollectible`).expect(200);
    await credit.payInvoice(second);

    const prefixes = await engine.database.queryValues<string>(SOURCES, []);
    expect([...prefixes].sort()).toEqual(['cn', 'dsp', 'inv', 'pay', 'ref', 'sp']);
    const path = '/v1/analytics/revenue?from=2026-03-01T00:00:00Z&to=2026-05-01T00:00:00Z';
    const { data } = await story.get<{ data: readonly Row[] }>(`${path}&group_by=plan`);
    expect(new Set(data.map(({ plan_id }) => plan_id))).toEqual(new Set([plan]));
    expect(data.map(({ refunds }) => refunds)).toEqual(['0', '800']);
    expect(await verifyLedger(engine)).toMatchObject({ ok: true });
  });
});
