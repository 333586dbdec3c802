import { type Credit, owedOf, type Payer, type ReferenceInvoice } from './bill';
import { standingOf } from './given-back';
import { type BilledLine, billedWith, netOf } from './line';
import { fraction, least, rounded, shares, split, sum } from './money';

interface Part {
  readonly line: BilledLine;
  readonly net: bigint;
}

/** The part of a credit note that credits one line. */
interface NotedLine extends Part {
  readonly tax: bigint;
  /** The tax of each rate of the line in that amount. */
  readonly taxes: readonly bigint[];
}

export interface ReferenceNote {
  readonly invoice: ReferenceInvoice;
  readonly settle: 'credit' | 'refund';
  readonly lines: readonly NotedLine[];
  readonly net: bigint;
  readonly tax: bigint;
  /** Amount taken off the invoice, and amount given to the customer. */
  readonly applied: bigint;
  readonly credit: Credit | null;
  readonly given: bigint;
  readonly toRefund: bigint;
  readonly madeAt: number;
  status: 'issued' | 'void';
  readonly events: string[];
}

interface Noted {
  readonly now: number;
  readonly invoices: readonly ReferenceInvoice[];
  readonly payer: Payer;
  readonly payments: { refundedOf(invoice: ReferenceInvoice): bigint };
  readonly collection: { credited(invoice: ReferenceInvoice, now: number): void };
}

/** The credit notes of the reference. */
export class CreditNotes {
  readonly all: ReferenceNote[] = [];

  constructor(private readonly owner: Noted) {}

  issue(
    invoice: ReferenceInvoice,
    parts: readonly Part[],
    settle: 'credit' | 'refund',
    isWithdrawal = false,
  ): ReferenceNote | string {
    if (invoice.status === 'void' || invoice.status === 'uncollectible')
      return 'invoice_not_creditable';
    const isTooMuch = parts.some(
      ({ line, net }, index) => net > creditableOf(line, takenBeside(line, parts.slice(0, index))),
    );
    if (isTooMuch) return 'credit_exceeds_line';
    const lines = withTax(parts);
    const net = sum(lines.map((line) => line.net));
    const tax = sum(lines.map((line) => line.tax));
    const applied = least(net + tax, owedOf(invoice));
    const rest = net + tax - applied;
    const before = this.givenOf(invoice);
    const refunded = this.owner.payments.refundedOf(invoice);
    // A refund that was made is matched by a note settled as a refund: the refund gave the money back, the note does
    // not.
    const back = settle === 'refund' ? before.refunds : most(before.refunds, refunded);
    const limit = invoice.paid + invoice.creditApplied - before.credit - back;
    const standing =
      standingOf(invoice, this.owner) - (back > before.refunds ? refunded - before.refunds : 0n);
    if (!isWithdrawal && (rest > limit || net + tax > standing)) return 'credit_given_back_already';
    const toRefund = settle === 'refund' ? least(rest, invoice.paid - before.refunds) : 0n;
    const given = rest - toRefund;
    const credit = given > 0n ? { left: given } : null;
    if (credit !== null) this.owner.payer.credits.push(credit);
    const events = ['issued'];
    const amounts = { net, tax, applied, credit, given, toRefund };
    const note: ReferenceNote = {
      invoice,
      settle,
      lines,
      ...amounts,
      madeAt: this.owner.now,
      status: 'issued',
      events,
    };
    this.all.push(note);
    takeBack(lines, 1n);
    this.lower(invoice, applied);
    return note;
  }

  /** Credits all that is left of an invoice. */
  issueWholly(invoice: ReferenceInvoice): void {
    const parts: Part[] = [];
    for (const line of invoice.lines) {
      const net = creditableOf(line, takenBeside(line, parts));
      if (net > 0n) parts.push({ line, net });
    }
    this.issue(invoice, parts, 'credit', true);
  }

  /** Refused if its credit was consumed, its amount settled, or usage of its lines taken back since. */
  void(place: number): string | null {
    const note = this.note(place);
    if (note.status === 'void') return 'invalid_transition';
    if (this.isCorrectedSince(note)) return 'credit_note_corrected';
    const { invoice, credit, given, applied, lines } = note;
    if (applied > 0n && invoice.status !== 'open') return 'credit_note_settled';
    if (credit !== null && credit.left < given) return 'credit_note_settled';
    if (credit !== null) credit.left -= given;
    note.status = 'void';
    note.events.push('voided');
    takeBack(lines, -1n);
    invoice.credited -= applied;
    return null;
  }

  note(place: number): ReferenceNote {
    const found = this.all[place];
    if (found === undefined) throw new Error(`There is no credit note ${place}.`);
    return found;
  }

  /** Sums what remaining notes gave back of an invoice. */
  givenOf(invoice: ReferenceInvoice): {
    readonly credit: bigint;
    readonly refunds: bigint;
    readonly applied: bigint;
  } {
    const notes = this.all.filter((one) => one.invoice === invoice && one.status === 'issued');
    return {
      credit: sum(notes.map(({ given }) => given)),
      refunds: sum(notes.map(({ toRefund }) => toRefund)),
      applied: sum(notes.map((note) => note.applied)),
    };
  }

  private isCorrectedSince({ lines, madeAt }: ReferenceNote): boolean {
    const noted = lines.flatMap(({ line: { usage } }) => usage ?? []);
    const since = this.owner.invoices.filter(
      ({ status, isRegenerated, ...one }) =>
        status !== 'draft' && !isRegenerated && one.madeAt >= madeAt,
    );
    return since.some((invoice) =>
      invoice.lines.some(
        ({ usage, back }) => back !== null && usage !== null && noted.includes(usage),
      ),
    );
  }

  private lower(invoice: ReferenceInvoice, applied: bigint): void {
    const isOpen = invoice.status === 'open';
    invoice.credited += applied;
    if (isOpen && owedOf(invoice) === 0n) this.owner.collection.credited(invoice, this.owner.now);
  }
}

/**
 * Returns how much of a line can be credited, without tax: no more than is left of the line, and of all lines that bill
 * the same price for the same period together; none after a later invoice credited a part of them.
 */
export function creditableOf(line: BilledLine, takenOfOthers = 0n): bigint {
  const all = billedWith(line);
  if (all.some(({ credited, noted }) => credited !== noted.amount)) return 0n;
  const left = least(leftOf(line), sum(all.map(leftOf)) - takenOfOthers);
  return left > 0n ? left : 0n;
}

/** Sums what parts take of lines that are billed together with this one. */
function takenBeside(line: BilledLine, parts: readonly Part[]): bigint {
  const beside = parts.filter((one) => billedWith(line).includes(one.line));
  return sum(beside.map(({ net }) => net));
}

function leftOf(line: BilledLine): bigint {
  return netOf(line) - line.noted.net;
}

/** Computes the tax of each part, rounded once for all; the last part of a line takes the rest of its tax. */
function withTax(parts: readonly Part[]): readonly NotedLine[] {
  const exact = parts.map(({ line, net }) => {
    const left = line.tax - line.noted.tax;
    const isLast = net === leftOf(line);
    const isMore = line.tax * net > left * netOf(line);
    return isLast || isMore ? fraction(left) : fraction(line.tax * net, netOf(line));
  });
  const under = exact.reduce((product, one) => product * one.under, 1n);
  const common = exact.map((one) => fraction(one.over * (under / one.under), under));
  const tax = rounded(fraction(sum(common.map(({ over }) => over)), under));
  const taxes = shares(tax, common);
  return parts.map(({ line, net }, index) => {
    const part = taxes[index] ?? 0n;
    const left = line.taxes.map(({ amount }, place) => amount - (line.noted.taxes[place] ?? 0n));
    return { line, net, tax: part, taxes: split(part, left) };
  });
}

/** Records that lines are credited, or not any more. */
function takeBack(lines: readonly NotedLine[], sign: 1n | -1n): void {
  for (const { line, net, tax, taxes: byRate } of lines) {
    const amount = net + (line.taxWithin === 0n ? 0n : tax);
    line.credited += sign * amount;
    const { noted } = line;
    line.noted = {
      net: noted.net + sign * net,
      tax: noted.tax + sign * tax,
      taxes: line.taxes.map(
        (_, place) => (noted.taxes[place] ?? 0n) + sign * (byRate[place] ?? 0n),
      ),
      amount: noted.amount + sign * amount,
    };
  }
}

function most(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
