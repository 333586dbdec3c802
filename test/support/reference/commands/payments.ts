import fc from 'fast-check';
import { isOwed, owedOf, type ReferenceInvoice } from '../bill';
import type { Card } from '../collection';
import type { Reference } from '../model';
import type { PayCard, ReferencePayment } from '../payments';
import type { BillingCommand, EngineUnderTest } from './engine';

const TOKENS = {
  good: 'pm_sandbox_ok',
  bad: 'pm_sandbox_declined',
  slow: 'pm_sandbox_pending',
  keeps: 'pm_sandbox_refund_fails',
  'slow to refund': 'pm_sandbox_refund_pending',
} as const satisfies Record<PayCard, string>;

/** Sets another default payment method. */
class TakeCard implements BillingCommand {
  constructor(private readonly card: Card) {}

  check(): boolean {
    return true;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    model.collection.take(this.card, model.now);
    const path = `/v1/customers/${engine.customerId}/payment-methods`;
    const method = { provider: 'sandbox', token: TOKENS[this.card], is_default: true };
    expect(await engine.post(path, method)).toMatchObject({ status: 201 });
  }

  toString(): string {
    return `a ${this.card} card`;
  }
}

/** Amount of a payment or refund: a share in percent, everything, or one minor unit too much. */
type Much = number | 'all' | 'too much';

function amountOf(much: Much, left: bigint): bigint | null {
  if (much === 'all') return null;
  // After a credit note, less than the pending amount can be owed. An amount is at least one minor unit.
  if (left <= 0n) return 1n;
  if (much === 'too much') return left + 1n;
  const share = (left * BigInt(much)) / 100n;
  return share === 0n ? 1n : share;
}

/** Pays an invoice manually: mostly an open one, sometimes one that owes nothing. */
class Pay implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly much: Much,
    private readonly card: PayCard,
  ) {}

  check(model: Readonly<Reference>): boolean {
    return this.place(model) !== null;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const place = this.place(model) ?? 0;
    const id = await engine.invoiceId(place);
    const invoice = model.invoice(place);
    const amount = amountOf(this.much, owedOf(invoice) - invoice.pending);
    const made = model.collection.pay(invoice, amount, this.card);
    const method = { payment_method_id: TOKENS[this.card] };
    const answer =
      amount === null
        ? await engine.post(`/v1/invoices/${id}/pay`, method)
        : await engine.post('/v1/payments', {
            ...method,
            invoice_id: id,
            customer_id: engine.customerId,
            amount: Number(amount),
            currency: engine.currency,
          });
    const expected = typeof made === 'string' ? { code: made } : paid(made);
    expect(answer.body).toMatchObject(expected);
  }

  private place(model: Readonly<Reference>): number | null {
    const isPicked = (invoice: ReferenceInvoice): boolean =>
      isOwed(invoice) || (this.pick > 18 && invoice.status !== 'draft');
    const picked = model.invoices.flatMap((invoice, place) => (isPicked(invoice) ? [place] : []));
    return picked[this.pick % Math.max(1, picked.length)] ?? null;
  }

  toString(): string {
    return `pay(${this.pick}, ${this.much}, with a ${this.card} card)`;
  }
}

function paid({ status, amount, applied }: ReferencePayment): object {
  return { status, amount: Number(amount), amount_applied: Number(applied) };
}

/** Pays without an invoice. */
class PayAhead implements BillingCommand {
  constructor(
    private readonly amount: number,
    private readonly card: PayCard,
  ) {}

  check(): boolean {
    return true;
  }

  async run({ collection }: Reference, engine: EngineUnderTest): Promise<void> {
    const made = collection.payAhead(BigInt(this.amount), this.card);
    const answer = await engine.post('/v1/payments', {
      payment_method_id: TOKENS[this.card],
      customer_id: engine.customerId,
      amount: this.amount,
      currency: engine.currency,
    });
    expect(answer.body).toMatchObject(paid(made));
  }

  toString(): string {
    return `pay ahead(${this.amount}, with a ${this.card} card)`;
  }
}

/** Settles a payment at the provider. */
class Settle implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly isPaid: boolean,
  ) {}

  check({ payments }: Readonly<Reference>): boolean {
    return payments.inFlight.length > 0;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { inFlight, all } = model.payments;
    const payment = inFlight[this.pick % inFlight.length];
    if (payment === undefined) return;
    const { isPaid } = this;
    const id = await engine.paymentId(all.indexOf(payment));
    model.collection.settle(payment, isPaid);
    const outcome = isPaid ? 'succeeded' : 'failed';
    const answer = await engine.post(`/v1/sandbox/payments/${id}/settle`, { outcome });
    expect(answer).toMatchObject({ status: 200, body: { id, ...paid(payment) } });
  }

  toString(): string {
    return `settle(${this.pick}, ${this.isPaid ? 'paid' : 'failed'})`;
  }
}

/** Refunds a part of a payment, or everything that is left of it. */
class Refund implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly much: Much,
  ) {}

  check({ payments }: Readonly<Reference>): boolean {
    return payments.all.length > 0;
  }

  async run({ payments }: Reference, engine: EngineUnderTest): Promise<void> {
    const payment = this.payment(payments);
    if (payment === undefined) return;
    const amount = amountOf(this.much, payments.refundableOf(payment));
    const made = payments.refund(payment, amount);
    const id = await engine.paymentId(payments.all.indexOf(payment));
    const body = amount === null ? {} : { amount: Number(amount) };
    const answer = await engine.post(`/v1/refunds/payment/${id}`, body);
    expect(answer.body).toMatchObject(
      typeof made === 'string'
        ? { code: made }
        : { payment_id: id, amount: Number(made.amount), status: made.status },
    );
  }

  /** Returns a payment, if possible one with a refundable part. */
  private payment(payments: Reference['payments']): ReferencePayment | undefined {
    const { all } = payments;
    const refundable = all.filter(
      (one) => one.status === 'succeeded' && payments.refundableOf(one) > 0n,
    );
    const those = refundable.length === 0 || this.pick > 15 ? all : refundable;
    return those[this.pick % those.length];
  }

  toString(): string {
    return `refund(${this.pick}, ${this.much})`;
  }
}

/** Settles a refund at the provider. */
class SettleRefund implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly isDone: boolean,
  ) {}

  check({ payments: { refunds } }: Readonly<Reference>): boolean {
    return refunds.some(({ status }) => status === 'pending');
  }

  async run({ payments }: Reference, engine: EngineUnderTest): Promise<void> {
    const pending = payments.refunds.filter(({ status }) => status === 'pending');
    const refund = pending[this.pick % pending.length];
    if (refund === undefined) return;
    const id = await engine.refundId(payments.refunds.indexOf(refund));
    payments.settleRefund(refund, this.isDone);
    const { status } = refund;
    const answer = await engine.post(`/v1/sandbox/refunds/${id}/settle`, { outcome: status });
    expect(answer).toMatchObject({ status: 200, body: { id, status } });
  }

  toString(): string {
    return `settle refund(${this.pick}, ${this.isDone ? 'done' : 'failed'})`;
  }
}

const place = fc.nat({ max: 20 });
const card = fc.constantFrom<Card>('good', 'good', 'bad', 'bad', 'bad', 'slow', 'slow');
export const takeCard = card.map((one) => new TakeCard(one));

const payCard: fc.Arbitrary<PayCard> = fc.constantFrom(
  ...(['good', 'good', 'bad', 'bad', 'slow', 'slow', 'keeps', 'slow to refund'] as const),
);
const much: fc.Arbitrary<Much> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('all') },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 100 }) },
  { weight: 1, arbitrary: fc.constant('too much') },
);
export const pay = fc.tuple(place, much, payCard).map((terms) => new Pay(...terms));
export const payAhead = fc
  .tuple(fc.integer({ min: 1, max: 5_000 }), payCard)
  .map((terms) => new PayAhead(...terms));
export const settle = fc
  .tuple(fc.nat({ max: 3 }), fc.boolean())
  .map((terms) => new Settle(...terms));
export const refund = fc.tuple(place, much).map((terms) => new Refund(...terms));
export const settleRefund = fc
  .tuple(fc.nat({ max: 3 }), fc.boolean())
  .map((terms) => new SettleRefund(...terms));
