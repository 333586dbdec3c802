import fc from 'fast-check';
import type { ReferenceInvoice } from '../bill';
import type { Reference } from '../model';
import type { BillingCommand, EngineUnderTest } from './engine';

type Done = 'void' | 'writeOff' | 'regenerate';

const PATHS = { void: 'void', writeOff: 'mark-uncollectible', regenerate: 'reissue' } as const;

/** Voids an invoice, writes one off, or regenerates a void one. */
class OnInvoice implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly command: Done,
  ) {}

  check(model: Readonly<Reference>): boolean {
    return this.place(model) !== null;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const place = this.place(model) ?? 0;
    const id = await engine.invoiceId(place);
    const refusal = model.corrections[this.command](place);
    const answer = await engine.post(`/v1/invoices/${id}/${PATHS[this.command]}`, {});
    const { status } = model.invoice(place);
    const made = this.command === 'regenerate' ? { reissue_of: id } : { id, status };
    expect({ command: this.command, ...answer.body }).toMatchObject(
      refusal === null ? made : { code: refusal },
    );
  }

  private place({ invoices }: Readonly<Reference>): number | null {
    const fits = invoices.flatMap((invoice, place) => (this.fits(invoice) ? [place] : []));
    return fits[this.pick % Math.max(1, fits.length)] ?? null;
  }

  private fits({ status, isRegenerated }: ReferenceInvoice): boolean {
    if (this.command === 'regenerate') return status === 'void' && !isRegenerated;
    return status !== 'draft' && status !== 'paid' && !isRegenerated;
  }

  toString(): string {
    return `${this.command}(${this.pick})`;
  }
}

/** Finalizes a draft before its grace period ends. */
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
const anyInvoice = fc.nat({ max: 20 });
export const voidInvoice = anyInvoice.map((place) => new OnInvoice(place, 'void'));
export const regenerate = anyInvoice.map((place) => new OnInvoice(place, 'regenerate'));
export const onInvoice = fc
  .tuple(anyInvoice, fc.constantFrom<Done>('void', 'regenerate', 'writeOff'))
  .map((terms) => new OnInvoice(...terms));
