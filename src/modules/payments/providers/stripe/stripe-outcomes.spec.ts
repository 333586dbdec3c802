import type Stripe from 'stripe';
import { intentOf } from './stripe-outcomes';

const QUERY = {
  paymentId: 'pay_1',
  amount: 1_000n,
  currency: 'USD',
  customerReference: 'cus_1',
  sentAt: new Date(0),
};

const intent = (id: string, fields: Partial<Stripe.PaymentIntent>): Stripe.PaymentIntent =>
  ({
    id,
    amount: 1_000,
    currency: 'usd',
    metadata: { payment_id: 'pay_1' },
    ...fields,
  }) as Stripe.PaymentIntent;

describe('the intent of a payment in a list', () => {
  it.each([
    ['succeeded', 'requires_action'],
    ['requires_action', 'requires_confirmation'],
    ['requires_action', 'canceled'],
    ['canceled', 'requires_confirmation'],
  ] as const)('is one that is %s rather than one that is %s', (first, second) => {
    const listed = [intent('pi_2', { status: second }), intent('pi_1', { status: first })];
    expect(intentOf(QUERY, listed)?.id).toBe('pi_1');
    expect(intentOf(QUERY, listed.slice(0, 1))?.id).toBe('pi_2');
  });

  it.each([{ amount: 999 }, { currency: 'eur' }, { metadata: { payment_id: 'pay_2' } }])(
    'is none with %j',
    (fields) => {
      expect(intentOf(QUERY, [intent('pi_1', { status: 'succeeded', ...fields })])).toBeNull();
    },
  );
});
