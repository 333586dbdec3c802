import type { Response } from 'supertest';
import { type EngineWithStripe } from './engine-with-stripe';

export interface IssuedNote {
  readonly id: string;
  readonly credited_to_balance: number;
  readonly to_refund: number;
}

/**
 * Requests for tests of lost credit: invoices have used the credit from a payment, and then money of the payment goes
 * back.
 */
export class LostCreditStory {
  constructor(readonly story: EngineWithStripe) {}

  async balanceOf(customer: string): Promise<number> {
    return (await this.story.get<{ balance: number }>(`/v1/customers/${customer}/balance`)).balance;
  }

  /** Refunds a payment without our metadata, as the dashboard does. Returns the id of the refund at Stripe. */
  async refundThere(payment: string, amount: number): Promise<string> {
    const intent = this.story.intentOf(payment);
    const refunds = this.story.stripe.client().refunds;
    const { id } = await refunds.create({ payment_intent: intent, amount });
    await this.story.notified();
    return id;
  }

  /** Opens a dispute, and returns its id at Stripe. */
  async dispute(payment: string, amount: number): Promise<string> {
    const intent = this.story.intentOf(payment);
    const { id } = this.story.stripe.openDispute(intent, 'fraudulent', amount);
    await this.story.notified();
    return id;
  }

  async closeDispute(dispute: string, outcome: 'won' | 'lost'): Promise<void> {
    this.story.stripe.closeDispute(dispute, outcome);
    await this.story.notified();
  }

  async lose(payment: string, amount: number): Promise<void> {
    await this.closeDispute(await this.dispute(payment, amount), 'lost');
  }

  /** Requests a credit note on the only line of an invoice. */
  async tryNote(invoice: string, amount: number, settle = 'credit'): Promise<Response> {
    const { lines } = await this.story.get<{ lines: { id: string }[] }>(`/v1/invoices/${invoice}`);
    return this.story.engine.http.post('/v1/credit-notes').send({
      invoice_id: invoice,
      reason: 'Agreed.',
      settle,
      lines: [{ invoice_line_id: lines[0]?.id, amount }],
    });
  }

  async note(invoice: string, amount: number, settle = 'credit'): Promise<IssuedNote> {
    const { status, body } = await this.tryNote(invoice, amount, settle);
    expect([status, body]).toEqual([201, expect.anything()]);
    return body as IssuedNote;
  }

  async refund(payment: string, fields: object = {}): Promise<Response> {
    return this.story.engine.http.post(`/v1/refunds/payment/${payment}`).send(fields);
  }

  /** Pays an open invoice with the default payment method. Returns the id of the payment. */
  async payInvoice(invoice: string, fields: object = {}): Promise<string> {
    return (await this.story.post(`/v1/invoices/${invoice}/pay`, fields)).id;
  }

  async cancelWithCredit(subscription: string): Promise<void> {
    await this.story.engine.http
      .post(`/v1/subscriptions/${subscription}/cancel`)
      .send({ when: 'now', credit_unused: true })
      .expect(200);
  }
}
