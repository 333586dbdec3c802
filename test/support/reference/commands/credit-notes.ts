import fc from 'fast-check';
import { creditableOf } from '../credit-notes';
import type { BilledLine } from '../line';
import type { Reference } from '../model';
import type { BillingCommand, EngineUnderTest } from './engine';

/** Share of a line in percent, or a minor unit more than its rest. */
type Much = number | 'too much';

class IssueNote implements BillingCommand {
  constructor(
    private readonly pick: number,
    private readonly parts: readonly { readonly pick: number; readonly much: Much }[],
    private readonly settle: 'credit' | 'refund',
  ) {}

  check({ invoices }: Readonly<Reference>): boolean {
    const invoice = invoices[this.pick % Math.max(1, invoices.length)];
    return invoice !== undefined && invoice.status !== 'draft';
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { settle } = this;
    const place = this.pick % model.invoices.length;
    const invoice = model.invoice(place);
    const parts = this.wanted(invoice.lines, model.invoices);
    const id = await engine.invoiceId(place);
    const { lines } = (await engine.get(`/v1/invoices/${id}`)) as { lines: { id: string }[] };
    const asked = parts.map(({ line, net }) => ({
      invoice_line_id: lines[invoice.lines.indexOf(line)]?.id,
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

  /** Prefers lines with a rest, if there are any. */
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
    return `note(${this.pick}, ${parts.join(' and ')}, ${this.settle})`;
  }
}

function netOf(much: Much, creditable: bigint): bigint {
  if (much === 'too much') return creditable + 1n;
  const share = (creditable * BigInt(much)) / 100n;
  return share === 0n ? 1n : share;
}

class VoidNote implements BillingCommand {
  constructor(private readonly pick: number) {}

  check({ creditNotes: { all } }: Readonly<Reference>): boolean {
    return all.length > 0;
  }

  async run({ creditNotes }: Reference, engine: EngineUnderTest): Promise<void> {
    const place = this.pick % creditNotes.all.length;
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

export const issueNote = fc
  .tuple(
    fc.nat({ max: 20 }),
    fc.array(part, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('credit' as const, 'refund' as const),
  )
  .map((terms) => new IssueNote(...terms));

export const voidNote = fc.nat({ max: 5 }).map((place) => new VoidNote(place));
