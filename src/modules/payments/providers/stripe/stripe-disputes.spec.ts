import type Stripe from 'stripe';
import { disputeOf } from './stripe-disputes';

const PAYMENT = 'pay_01m8kccm86e9598yxxmz8akava';

const intent = {
  id: 'pi_1',
  amount_received: 1_000,
  currency: 'usd',
  metadata: { payment_id: PAYMENT, environment: 'default' },
};

const seen = (fields: object) =>
  disputeOf({
    id: 'dp_1',
    amount: 1_000,
    currency: 'usd',
    balance_transactions: [],
    evidence_details: { due_by: null },
    is_charge_refundable: false,
    payment_intent: intent,
    reason: 'fraudulent',
    status: 'needs_response',
    ...fields,
  } as unknown as Stripe.Dispute);

describe('a dispute of Stripe', () => {
  it.each([
    ['warning_needs_response', 'inquiry'],
    ['warning_under_review', 'inquiry'],
    ['warning_closed', 'closed'],
    ['needs_response', 'open'],
    ['under_review', 'open'],
    ['appeal_under_review', 'open'],
    ['prevented', 'closed'],
    ['won', 'won'],
    ['lost', 'lost'],
    ['constructor', 'open'],
  ])('that is %s is %s', (status, expected) => {
    expect(seen({ status })).toMatchObject({ reported: { status: expected } });
  });

  it.each([
    ['of its movements', [{ amount: -900, currency: 'usd' }], 900n, 0n],
    [
      'that are paid back',
      [
        { amount: -1_000, currency: 'usd' },
        { amount: 400, currency: 'usd' },
      ],
      1_000n,
      400n,
    ],
    [
      'in the currency of the account count as the disputed amount',
      [{ amount: -870, currency: 'eur' }],
      1_000n,
      0n,
    ],
  ])('has the funds %s', (_, movements, amountWithdrawn, amountReinstated) => {
    const reported = { amountWithdrawn, amountReinstated };
    expect(seen({ balance_transactions: movements })).toMatchObject({ reported });
  });

  it.each([
    ['counts as the whole payment', { amount_received: 6_500, currency: 'jpy' }, 'eur', 6_500n],
    [
      'counts as the whole payment, whose currency has two decimals at Stripe alone',
      { amount_received: 650_000, currency: 'isk' },
      'eur',
      6_500n,
    ],
    [
      'takes the funds that moved in the currency of the payment',
      { amount_received: 6_500, currency: 'jpy' },
      'jpy',
      4_100n,
    ],
  ])('in another currency than the payment %s', (_, of, currency, amountWithdrawn) => {
    const fields = { amount: 4_000, currency: 'eur', payment_intent: { ...intent, ...of } };
    const movements = [{ amount: -4_100, currency }];
    expect(seen({ ...fields, balance_transactions: movements })).toMatchObject({
      reported: { amount: 6_500n, amountWithdrawn, amountReinstated: 0n },
    });
  });

  it.each([
    ['a former environment', { ...intent.metadata, environment: 'b' }, PAYMENT],
    ['another service', {}, null],
    ['another service with the same key', { payment_id: '4711' }, null],
  ])('of a charge of %s names our payment if the id has our form', (_, metadata, paymentId) => {
    expect(seen({ payment_intent: { ...intent, metadata } })).toMatchObject({
      chargeReference: 'pi_1',
      paymentId,
    });
  });

  it.each([
    ['without a payment intent', null],
    ['in a currency that is not known', { ...intent, currency: 'usdc' }],
  ])('%s is not ours', (_, of) => {
    expect(seen({ payment_intent: of })).toEqual({ kind: 'not_ours' });
  });
});
