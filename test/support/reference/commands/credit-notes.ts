import fc from 'fast-check';
import { creditableOf } from '../credit-notes';
import type { BilledLine } from '../line';
import type { Reference } from '../model';
import type { BillingCommand, EngineUnderTest } from './engine';

/** Credited share of a line in percent, or one minor unit more than can be credited. */
type Much = number | 'too much';

class IssueNote implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly parts: readonly { readonly pick: number; readonly much: Much }[],
    private readonly settle: 'credit' | 'refund',
    /** Lines that the note credits. */
    private readonly of: 'any' | 'usage' | 'prepaid',
  ) {}

  check(model: Readonly<Reference>): boolean {
    const place = this.place(model);
    return place !== null && model.invoice(place).status !== 'draft';
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { settle } = this;
    const place = this.place(model) ?? 0;
    const invoice = model.invoice(place);
    const lines = invoice.lines.filter((line) => this.fits(line));
    const parts = this.wanted(lines, model.invoices);
    const id = await engine.invoiceId(place);
    const real = (await engine.get(`/v1/invoices/${id}`)) as { lines: { id: string }[] };
    const asked = parts.map(({ line, net }) => ({
      invoice_line_id: real.lines[invoice.lines.indexOf(line)]?.id,
      amount: Number(net),
    }));
    const order = { invoice_id: id, lines: asked, reason: 'So it is', settle };
    const answer = await engine.post('/v1/credit-notes', order);
    const note = model.creditNotes.issue(invoice, parts, settle);
    if (typeof note === 'string') {
      expect(answer.body).toMatchObject({ code: note });
      return;
    }
    expect(answer.body).toMatchObject({
      status: 'issued',
      net: Number(note.net),
      tax: Number(note.tax),
      total: Number(note.net + note.tax),
      applied_to_invoice: Number(note.applied),
      credited_to_balance: Number(note.given),
      to_refund: Number(note.toRefund),
      lines: note.lines.map(({ net, tax }) => ({ amount: Number(net), tax: Number(tax) })),
    });
  }

  private place({ invoices }: Readonly<Reference>): number | null {
    const fits = invoices.flatMap(({ lines }, place) =>
      this.of === 'any' || lines.some((line) => this.fits(line)) ? [place] : [],
    );
    return fits[this.pick % Math.max(1, fits.length)] ?? null;
  }

  private fits({ usage, amount, isLate, item, type }: BilledLine): boolean {
    switch (this.of) {
      case 'any':
        return true;
      case 'usage':
        return usage !== null && amount > 0n && !isLate;
      case 'prepaid':
        return item !== null && amount > 0n && type !== 'credit';
    }
  }

  /**
   * Returns the lines to credit and their amounts. If something is left to credit on some lines, selects only from
   * these.
   */
  private wanted(
    lines: readonly BilledLine[],
    invoices: Reference['invoices'],
  ): readonly { line: BilledLine; net: bigint }[] {
    const creditable = lines.filter((line) => creditableOf(line, invoices) > 0n);
    const candidates = creditable.length === 0 ? lines : creditable;
    const picked = this.parts.flatMap(({ pick, much }) => {
      const line = candidates[pick % candidates.length];
      return line === undefined ? [] : [{ line, net: netOf(much, creditableOf(line, invoices)) }];
    });
    return picked.filter(
      ({ line }, index) => picked.findIndex((one) => one.line === line) === index,
    );
  }

  toString(): string {
    const parts = this.parts.map(({ pick, much }) => `${much} of ${pick}`);
    const of = this.of === 'any' ? '' : ` of ${this.of}`;
    return `note(${this.pick}, ${parts.join(' and ')}${of}, ${this.settle})`;
  }
}

function netOf(much: Much, creditable: bigint): bigint {
  if (much === 'too much') return creditable + 1n;
  const share = (creditable * BigInt(much)) / 100n;
  return share === 0n ? 1n : share;
}

class VoidNote implements BillingCommand {
  /** @param pick 'last': the newest note */
  constructor(private readonly pick: number | 'last') {}

  check({ creditNotes: { all } }: Readonly<Reference>): boolean {
    return all.length > 0;
  }

  async run({ creditNotes }: Reference, engine: EngineUnderTest): Promise<void> {
    const { length } = creditNotes.all;
    const place = this.pick === 'last' ? length - 1 : this.pick % length;
    const id = await engine.noteId(place);
    const refusal = creditNotes.void(place);
    const answer = await engine.post(`/v1/credit-notes/${id}/void`, {});
    expect(answer.body).toMatchObject(
      refusal === null ? { id, status: 'void' } : { code: refusal },
    );
  }

  toString(): string {
    return `void note(${this.pick})`;
  }
}

const much = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 99 }) },
  { weight: 2, arbitrary: fc.constant(100) },
  { weight: 1, arbitrary: fc.constant('too much' as const) },
);

const part = fc.record({ pick: fc.nat({ max: 5 }), much });

const note = fc.tuple(
  fc.nat({ max: 20 }),
  fc.array(part, { minLength: 1, maxLength: 3 }),
  fc.constantFrom('credit' as const, 'refund' as const),
);

export const issueNote = note.map((terms) => new IssueNote(...terms, 'any'));
export const noteUsage = note.map((terms) => new IssueNote(...terms, 'usage'));
export const notePrepaid = note.map((terms) => new IssueNote(...terms, 'prepaid'));

export const voidNote = fc.nat({ max: 5 }).map((place) => new VoidNote(place));
export const voidLastNote = fc.constant(new VoidNote('last'));
