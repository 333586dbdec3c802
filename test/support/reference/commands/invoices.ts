import fc from 'fast-check';
import type { ReferenceInvoice } from '../bill';
import type { Card, PayCard } from '../collection';
import type { Reference } from '../model';
import { isRunning } from './credit-notes';
import type { BillingCommand, EngineUnderTest } from './engine';

/** Another default payment method. */
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

/** Pays an open invoice by hand, or tries to. What takes its time is paid for the first time alone. */
class Pay implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly card: PayCard,
  ) {}

  check(model: Readonly<Reference>): boolean {
    return this.place(model) !== null;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const place = this.place(model) ?? 0;
    const id = await engine.invoiceId(place);
    model.collection.pay(model.invoice(place), this.card, model.now);
    const method = { payment_method_id: TOKENS[this.card] };
    const answer = await engine.post(`/v1/invoices/${id}/pay`, method);
    const status = OUTCOMES[this.card];
    expect(answer).toMatchObject({ status: 201, body: { invoice_id: id, status } });
    if (this.card === 'slow') engine.underWay.push((answer.body as { id: string }).id);
  }

  private place(model: Readonly<Reference>): number | null {
    const fits = ({ status, pending, subscription }: ReferenceInvoice): boolean =>
      status === 'open' &&
      pending === 0n &&
      (this.card !== 'slow' || model.subscription(subscription).status === 'incomplete');
    const open = model.invoices.flatMap((invoice, place) => (fits(invoice) ? [place] : []));
    return open[this.pick % Math.max(1, open.length)] ?? null;
  }

  toString(): string {
    return `pay(${this.pick}, with a ${this.card} card)`;
  }
}

const TOKENS = {
  good: 'pm_sandbox_ok',
  bad: 'pm_sandbox_declined',
  slow: 'pm_sandbox_pending',
} as const;

const OUTCOMES = { good: 'succeeded', bad: 'failed', slow: 'processing' } as const;

/** The provider tells what became of a payment; of one that comes after its period is over, only that it failed. */
class Settle implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly isPaid: boolean,
  ) {}

  check(model: Readonly<Reference>): boolean {
    return model.collection.underWay.length > 0;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { underWay } = model.collection;
    const place = this.pick % underWay.length;
    const invoice = underWay[place]?.invoice;
    const isPaid = this.isPaid && invoice !== undefined && isRunning(model, invoice);
    const [id = ''] = engine.underWay.splice(place, 1);
    model.collection.settle(place, isPaid);
    const outcome = isPaid ? 'succeeded' : 'failed';
    const answer = await engine.post(`/v1/sandbox/payments/${id}/settle`, { outcome });
    expect(answer).toMatchObject({ status: 200, body: { id, status: outcome } });
  }

  toString(): string {
    return `settle(${this.pick}, ${this.isPaid ? 'paid' : 'failed'})`;
  }
}

/** Voids an open invoice, or issues one anew that is void. */
class OnInvoice implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly command: 'void' | 'reissue',
  ) {}

  check(model: Readonly<Reference>): boolean {
    return this.place(model) !== null;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const place = this.place(model) ?? 0;
    const id = await engine.invoiceId(place);
    const refusal = model[this.command](place);
    const answer = await engine.post(`/v1/invoices/${id}/${this.command}`, {});
    const made = this.command === 'void' ? { id, status: 'void' } : { reissue_of: id };
    expect({ command: this.command, ...answer.body }).toMatchObject(
      refusal === null ? made : { code: refusal },
    );
  }

  private place({ invoices }: Readonly<Reference>): number | null {
    const fits = invoices.flatMap(({ status, isReissued }, place) =>
      status === (this.command === 'void' ? 'open' : 'void') && !isReissued ? [place] : [],
    );
    return fits[this.pick % Math.max(1, fits.length)] ?? null;
  }

  toString(): string {
    return `${this.command}(${this.pick})`;
  }
}

/** Asks for a draft before its grace has passed. */
class Finalize implements BillingCommand {
  constructor(private readonly pick: number) {}

  check({ invoices }: Readonly<Reference>): boolean {
    return invoices.some(({ status }) => status === 'draft');
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const drafts = model.invoices.filter(({ status }) => status === 'draft');
    const invoice = drafts[this.pick % drafts.length];
    if (invoice === undefined) return;
    const id = await engine.invoiceId(model.invoices.indexOf(invoice));
    const refusal = model.drafts.finalizeEarly(invoice);
    const answer = await engine.post(`/v1/invoices/${id}/finalize`, {});
    const made = { id, status: invoice.status };
    expect(answer.body).toMatchObject(refusal === null ? made : { code: refusal });
  }

  toString(): string {
    return `finalize(${this.pick})`;
  }
}

export const finalize = fc.nat({ max: 3 }).map((place) => new Finalize(place));
export const onInvoice = fc
  .tuple(fc.nat({ max: 20 }), fc.constantFrom('void' as const, 'reissue' as const))
  .map((terms) => new OnInvoice(...terms));

const card = fc.constantFrom('good' as const, 'bad' as const, 'bad' as const);
export const takeCard = card.map((one) => new TakeCard(one));
const payCard = fc.oneof(card, fc.constant('slow' as const));
export const pay = fc.tuple(fc.nat({ max: 20 }), payCard).map((terms) => new Pay(...terms));
export const settle = fc
  .tuple(fc.nat({ max: 3 }), fc.boolean())
  .map((terms) => new Settle(...terms));
