import type { INestApplicationContext } from '@nestjs/common';
import { type DuePayments } from '../../../src/modules/billing/payments/due-payments';
import { type DueSetups } from '../../../src/modules/billing/payments/due-setups';
import { DueProviderEvents } from '../../../src/modules/billing/payments/due-provider-events';
import { type DueDetachments } from '../../../src/modules/payments/methods/due-detachments';
import { type DueReconciliations } from '../../../src/modules/reconciliations/due-reconciliations';
import { type DueRefunds } from '../../../src/modules/refunds/due-refunds';
import { createCustomer } from '../billing';
import { startTestApp, type TestApp } from '../test-app';
import { startStripeDouble, type StripeDouble } from './stripe-double';

const SECRET = 'whsec_scenarios';

/** Payment, refund or payment method, as the API returns it. */
export interface Answer {
  readonly id: string;
  readonly status: string;
  readonly token: string;
  readonly failure_code: string | null;
}

/** The service with the double of Stripe as its provider. */
export class EngineWithStripe {
  constructor(
    readonly engine: TestApp,
    readonly stripe: StripeDouble,
  ) {}

  async close(): Promise<void> {
    await this.engine.close();
    await this.stripe.close();
    expect(this.stripe.server.defects).toEqual([]);
  }

  async post(path: string, body: object = {}): Promise<Answer> {
    const answer = await this.engine.http.post(path).send(body);
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return answer.body as Answer;
  }

  async get<Body = Answer>(path: string): Promise<Body> {
    return (await this.engine.http.get(path).expect(200)).body as Body;
  }

  /** Returns a customer with a default payment method at Stripe. */
  async customerWith(
    token: string,
    fields: object = {},
  ): Promise<{ customer: string; method: Answer }> {
    const customer = await createCustomer(this.engine, fields);
    const body = { provider: 'stripe', token };
    const method = await this.post(`/v1/customers/${customer}/payment-methods`, body);
    return { customer, method };
  }

  /** Charges a customer without an invoice, so that the payment becomes credit. */
  pay(customer: string, fields: object = {}): Promise<Answer> {
    const body = { customer_id: customer, amount: 1_000, currency: 'USD', ...fields };
    return this.post('/v1/payments', body);
  }

  /** Creates an open invoice of an amount in USD. */
  async invoice(customer: string, amount: number): Promise<string> {
    const lines = [{ description: 'Work', amount }];
    const { id } = await this.post('/v1/invoices', {
      customer_id: customer,
      currency: 'USD',
      lines,
    });
    await this.engine.http.post(`/v1/invoices/${id}/finalize`).send({}).expect(200);
    return id;
  }

  /** Charges a customer for an invoice. */
  async paid(token = 'pm_card_visa'): Promise<{ customer: string; payment: string }> {
    const { customer } = await this.customerWith(token);
    const invoice = await this.invoice(customer, 1_000);
    const { id } = await this.post(`/v1/invoices/${invoice}/pay`);
    return { customer, payment: id };
  }

  /** Resets the double between two tests: planned faults are removed, and webhooks are delivered again. */
  reset(): void {
    this.stripe.faults.clear();
    this.stripe.webhooks.fate = () => 'deliver';
  }

  async run(
    work:
      | typeof DuePayments
      | typeof DueRefunds
      | typeof DueSetups
      | typeof DueProviderEvents
      | typeof DueReconciliations
      | typeof DueDetachments,
  ): Promise<void> {
    const due = (this.engine.app as INestApplicationContext).get<DuePayments>(work);
    await due.runDue();
    await due.idle();
  }

  /** Waits until all webhooks of the double have arrived at the service, and processes them. */
  async notified(): Promise<void> {
    await this.stripe.webhooks.idle();
    await this.run(DueProviderEvents);
  }

  /** Returns the id of the payment intent of a payment. */
  intentOf(payment: string): string {
    const intents = [...this.stripe.account.paymentIntents.values()];
    const found = intents.find(({ metadata }) => metadata['payment_id'] === payment);
    if (found === undefined) throw new Error(`Stripe has no intent of ${payment}.`);
    return found.id;
  }
}

/** @param environment further settings of the service */
export async function startEngineWithStripe(
  environment: Readonly<Record<string, string>> = {},
): Promise<EngineWithStripe> {
  let engine: TestApp | null = null;
  const stripe = await startStripeDouble({ now: () => engine?.clock.now() ?? new Date() });
  engine = await startTestApp({
    environment: {
      PAYMENT_PROVIDERS: 'stripe,manual',
      STRIPE_SECRET_KEY: stripe.secretKey,
      STRIPE_API_URL: stripe.url,
      STRIPE_WEBHOOK_SECRETS: SECRET,
      ...environment,
    },
  });
  stripe.webhooks.register(`${await engine.app.getUrl()}/v1/providers/stripe/webhooks`, SECRET);
  return new EngineWithStripe(engine, stripe);
}
