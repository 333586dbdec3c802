import { startStripeDouble, type StripeDouble } from '../support/stripe/stripe-double';
import { describeProvider } from './payment-provider';

/** Key of a Stripe sandbox, to run the same contract there. Never a live key: the service refuses one in this mode. */
const STRIPE_TEST_KEY = process.env['STRIPE_TEST_KEY'];

const STRIPE = {
  provider: 'stripe',
  approved: 'pm_card_visa',
  declined: 'pm_card_chargeCustomerFail',
} as const;

describe('the contract of payment providers', () => {
  describe('sandbox', () => {
    describeProvider(true, () =>
      Promise.resolve({
        provider: 'sandbox',
        environment: { PAYMENT_PROVIDERS: 'sandbox' },
        approved: 'pm_sandbox_ok',
        declined: 'pm_sandbox_declined',
      }),
    );
  });

  describe('manual', () => {
    describeProvider(false, () =>
      Promise.resolve({
        provider: 'manual',
        environment: { PAYMENT_PROVIDERS: 'manual' },
        approved: null,
        declined: null,
      }),
    );
  });

  describe('stripe, as the test double', () => {
    let double: StripeDouble;

    describeProvider(true, async () => {
      double = await startStripeDouble();
      const environment = {
        PAYMENT_PROVIDERS: 'stripe',
        STRIPE_SECRET_KEY: double.secretKey,
        STRIPE_API_URL: double.url,
      };
      return { ...STRIPE, environment };
    });

    afterAll(async () => {
      await double.close();
      expect(double.server.defects).toEqual([]);
      expect(double.server.refused).toEqual([]);
    });
  });

  if (STRIPE_TEST_KEY !== undefined) {
    describe('stripe, in its own sandbox', () => {
      describeProvider(true, () =>
        Promise.resolve({
          ...STRIPE,
          environment: { PAYMENT_PROVIDERS: 'stripe', STRIPE_SECRET_KEY: STRIPE_TEST_KEY },
        }),
      );
    });
  }
});
