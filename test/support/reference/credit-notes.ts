import { type Credit, owedOf, type Payer, type ReferenceInvoice } from './bill';
import { standingOf } from './given-back';
import { type BilledLine, billedWith, netOf } from './line';
import { type Fraction, fraction, least, plus, rounded, shares, split, sum } from './money';
import { inclusiveTaxOf } from './tax';

interface Part {
  readonly line: BilledLine;
  readonly net: bigint;
}

/** The part of a credit note that credits one line. */
interface CreditedLine extends Part {
  readonly tax: bigint;
  /** Part of `tax` for each rate of the line. */
  readonly taxes: readonly bigint[];
}

export interface ReferenceNote {
  readonly invoice: ReferenceInvoice;
  readonly settle: 'credit' | 'refund';
  readonly lines: readonly CreditedLine[];
  readonly net: bigint;
  readonly tax: bigint;
  /** Amount taken off what the invoice owes. `given`: amount given to the customer as credit. */
  readonly applied: bigint;
  readonly credit: Credit | null;
  readonly given: bigint;
  readonly toRefund: bigint;
  readonly madeAt: number;
  status: 'issued' | 'void';
  readonly events: string[];
}

interface CreditNotesOwner {
  readonly now: number;
  readonly invoices: readonly ReferenceInvoice[];
  readonly payer: Payer;
  readonly payments: { refundedOf(invoice: ReferenceInvoice): bigint };
  readonly collection: { credited(invoice: ReferenceInvoice, now: number): void };
}

export class CreditNotes {
  readonly all: ReferenceNote[] = [];

  constructor(private readonly owner: CreditNotesOwner) {}

  issue(
    invoice: ReferenceInvoice,
    parts: readonly Part[],
    settle: 'credit' | 'refund',
    withdrawn?: readonly CreditedLine[],
  ): ReferenceNote | string {
    if (invoice.status === 'void' || invoice.status === 'uncollectible')
      return 'invoice_not_creditable';
    const { invoices } = this.owner;
    const isTooMuch = parts.some(({ line, net }, index) => {
      return net > creditableOf(line, invoices, takenBeside(line, parts.slice(0, index)));
    });
    if (isTooMuch) return 'credit_exceeds_line';
    const lines = withdrawn ?? withTax(parts, invoices);
    if (lines.some((line) => line.net + line.tax === 0n)) return 'credit_takes_nothing';
    const net = sum(lines.map((line) => line.net));
    const tax = sum(lines.map((line) => line.tax));
    const applied = least(net + tax, owedOf(invoice));
    const rest = net + tax - applied;
    const before = this.givenOf(invoice);
    const refunded = this.owner.payments.refundedOf(invoice);
    // Only a refund returns the money of a note that is settled as a refund. The note itself does not.
    const back = settle === 'refund' ? before.refunds : most(before.refunds, refunded);
    // Credit of later invoices that lowered this invoice has settled it, like a payment.
    const settled = invoice.paid + invoice.creditApplied + invoice.credited - before.applied;
    const limit = settled - before.credit - back;
    const standing =
      standingOf(invoice, this.owner) - (back > before.refunds ? refunded - before.refunds : 0n);
    if (withdrawn === undefined && (rest > limit || net + tax > standing))
      return 'credit_given_back_already';
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

  /** Credits everything that is left of an invoice. */
  issueWholly(invoice: ReferenceInvoice): void {
    const lines = restOf(invoice, this.owner.invoices);
    this.issue(invoice, lines, 'credit', lines);
  }

  /**
   * Voids a credit note. Refuses if its credit was consumed, its amount is settled, or a later invoice took back a part
   * of its lines.
   */
  void(place: number): string | null {
    const note = this.note(place);
    if (note.status === 'void') return 'invalid_transition';
    if (this.isTakenBackSince(note)) return 'credit_note_corrected';
    const { invoice, credit, given, applied, lines } = note;
    if (applied > 0n && invoice.status !== 'open') return 'credit_note_settled';
    if (credit !== null && credit.left < given) return 'credit_note_settled';
    if (credit !== null) credit.left -= given;
    note.status = 'void';
    note.events.push('voided');
    takeBack(lines, -1n);
    invoice.credited -= applied;
    if (applied > 0n) invoice.events.push('updated');
    return null;
  }

  note(place: number): ReferenceNote {
    const found = this.all[place];
    if (found === undefined) throw new Error(`There is no credit note ${place}.`);
    return found;
  }

  /** Sums what issued notes of an invoice gave as credit, will give by refunds, and took off what the invoice owes. */
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

  private isTakenBackSince({ lines, madeAt }: ReferenceNote): boolean {
    const credited = lines.flatMap(({ line: { usage } }) => usage ?? []);
    const charged = lines.flatMap(({ line: { together } }) => together);
    const since = this.owner.invoices.filter(
      ({ status, ...one }) => status !== 'draft' && status !== 'void' && one.madeAt >= madeAt,
    );
    return since.some((invoice) =>
      invoice.lines.some(
        ({ usage, back, creditedLine }) =>
          (back !== null && usage !== null && credited.includes(usage)) ||
          (creditedLine !== null && charged.includes(creditedLine)),
      ),
    );
  }

  private lower(invoice: ReferenceInvoice, applied: bigint): void {
    const isOpen = invoice.status === 'open';
    invoice.credited += applied;
    if (isOpen && owedOf(invoice) === 0n) this.owner.collection.credited(invoice, this.owner.now);
    else if (applied > 0n) invoice.events.push('updated');
  }
}

/**
 * Returns the largest creditable amount of a line, without tax: at most what is left of the line, and at most what is
 * left of all lines that bill the same price for the same period.
 */
export function creditableOf(
  line: BilledLine,
  invoices: readonly ReferenceInvoice[],
  takenOfOthers = 0n,
): bigint {
  const together = leftOfAll(line, invoices).net - takenOfOthers;
  return notNegative(least(leftOf(line, invoices).net, together));
}

/** Sums the parts of a credit note for this line and for the lines that were billed together with it. */
function takenBeside(line: BilledLine, parts: readonly Part[]): bigint {
  const beside = parts.filter((one) => billedWith(line).includes(one.line));
  return sum(beside.map(({ net }) => net));
}

interface Left {
  readonly net: bigint;
  /** In the order of the rates of the line. */
  readonly taxes: readonly bigint[];
}

/** Returns what credit notes and later credits have left of a line. Credits lower a charge first, then its minimum. */
function leftOf(line: BilledLine, invoices: readonly ReferenceInvoice[]): Left {
  const own = notCreditedByNotes(line);
  const charge = line.type === 'minimum' ? chargeOf(line) : line;
  const credits = creditsOf(charge === undefined ? [] : [charge], invoices);
  const before = charge === undefined || charge === line ? null : notCreditedByNotes(charge);
  const rest = (left: bigint, credited: bigint, used: bigint): bigint => {
    const further = credited - least(credited, used);
    return left - least(left, further);
  };
  return {
    net: rest(own.net, -sum(credits.map(netOf)), before?.net ?? 0n),
    taxes: own.taxes.map((left, place) => {
      const rate = line.taxes[place]?.rate;
      const at = charge?.taxes.findIndex((one) => one.rate === rate) ?? -1;
      const ofRate = credits.flatMap(({ taxes }) => taxes.filter((one) => one.rate === rate));
      return rest(left, -sum(ofRate.map(({ amount }) => amount)), before?.taxes[at] ?? 0n);
    }),
  };
}

function notCreditedByNotes(line: BilledLine): Left {
  const { taxes, creditedByNotes } = line;
  return {
    net: netOf(line) - creditedByNotes.net,
    taxes: taxes.map(({ amount }, place) => amount - (creditedByNotes.taxes[place] ?? 0n)),
  };
}

function chargeOf({ together }: BilledLine): BilledLine | undefined {
  return together.find(({ type }) => type === 'recurring' || type === 'proration');
}

/** Returns the lines, on invoices in effect, that credit unused parts of the given lines. */
function creditsOf(
  lines: readonly BilledLine[],
  invoices: readonly ReferenceInvoice[],
): readonly BilledLine[] {
  const standing = invoices.filter(({ status }) => status !== 'draft' && status !== 'void');
  return standing
    .flatMap((one) => one.lines)
    .filter(({ creditedLine }) => creditedLine !== null && lines.includes(creditedLine));
}

/**
 * Returns what is left of all lines that bill the price of a line for its period. Lines of other invoices count only if
 * they lower it, in the order of the rates of the line.
 */
function leftOfAll(line: BilledLine, invoices: readonly ReferenceInvoice[]): Left {
  const invoice = invoices.find(({ lines }) => lines.includes(line));
  const all = billedWith(line);
  const own = all.filter((one) => invoice?.lines.includes(one));
  const others = all.filter((one) => !own.includes(one));
  const credits = creditsOf(all, invoices);
  const netLeft = (one: BilledLine): bigint => netOf(one) - one.creditedByNotes.net;
  const taxLeftAt = (rate: number, one: BilledLine): bigint =>
    sum(
      one.taxes.map((tax, place) =>
        tax.rate === rate ? tax.amount - (one.creditedByNotes.taxes[place] ?? 0n) : 0n,
      ),
    );
  const left = (of: (one: BilledLine) => bigint): bigint =>
    sum([...own, ...credits].map(of)) + least(0n, sum(others.map(of)));
  return {
    net: left(netLeft),
    taxes: line.taxes.map(({ rate }) => left((one) => taxLeftAt(rate, one))),
  };
}

/**
 * Computes the exact tax of each part: its share of the tax of the line, but at most what is left of this tax, and of
 * the tax of all lines that bill the price for the period. The part that takes the rest of their net amounts takes the
 * rest of the tax.
 */
function exactly(
  parts: readonly Part[],
  invoices: readonly ReferenceInvoice[],
): readonly (Part & { readonly tax: Fraction })[] {
  const exact: (Part & { readonly tax: Fraction })[] = [];
  for (const { line, net } of parts) {
    const beside = exact.filter((one) => billedWith(line).includes(one.line));
    const all = leftOfAll(line, invoices);
    const taken = beside.map(({ tax }) => fraction(-tax.over, tax.under));
    const ofAll = taken.reduce(plus, fraction(creditableTaxOf(all)));
    const left = lower(fraction(sum(taxesLeft(line, invoices))), ofAll);
    const isLast = net === creditableOf(line, invoices, sum(beside.map((one) => one.net)));
    const tax = isLast ? left : lower(fraction(line.tax * net, netOf(line)), left);
    exact.push({ line, net, tax });
  }
  return exact;
}

/** Returns the largest tax that notes may take of amounts: all of it, less what the net amount is below zero. */
function creditableTaxOf(left: Left): bigint {
  return notNegative(taxLessNet(left));
}

function taxLessNet({ net, taxes }: Left): bigint {
  return sum(taxes) + least(net, 0n);
}

/** Returns true unless the net amount is below zero for another reason than inclusive tax that was rounded up. */
function isCharge({ net, taxes }: Left): boolean {
  return net + sum(taxes.map(notNegative)) >= 0n;
}

/** Returns the tax of a line that can still be credited at each of its rates. */
function taxesLeft(
  line: BilledLine,
  invoices: readonly ReferenceInvoice[],
  taken: readonly CreditedLine[] = [],
): readonly bigint[] {
  const all = leftOfAll(line, invoices);
  return leftOf(line, invoices).taxes.map((left, place) => {
    const rate = line.taxes[place]?.rate;
    const before = taken.flatMap((one) =>
      one.taxes.filter((_, index) => one.line.taxes[index]?.rate === rate),
    );
    return notNegative(least(left, (all.taxes[place] ?? 0n) - sum(before)));
  });
}

/** Returns the largest tax of a note. If it takes all net amounts of the invoice, amounts of charges below zero count. */
function largestTax(parts: readonly Part[], invoices: readonly ReferenceInvoice[]): bigint {
  const lines = invoices
    .map((one) => one.lines)
    .find((all) => parts.some(({ line }) => all.includes(line)));
  const left = (lines ?? [])
    .filter((line) => lines?.find((one) => one === line || billedWith(line).includes(one)) === line)
    .map((line) => ({ ...leftOfAll(line, invoices), taken: takenBeside(line, parts) }));
  const isAll = parts.length > 0 && left.every(({ net, taken }) => net <= taken);
  return notNegative(
    sum(left.map((all) => (isAll && isCharge(all) ? taxLessNet(all) : creditableTaxOf(all)))),
  );
}

/** Computes the tax of each part. Only the sum of the exact taxes is rounded. */
function withTax(
  parts: readonly Part[],
  invoices: readonly ReferenceInvoice[],
): readonly CreditedLine[] {
  const exact = exactly(parts, invoices).map(({ tax }) => tax);
  const under = exact.reduce((product, one) => product * one.under, 1n);
  const common = exact.map((one) => fraction(one.over * (under / one.under), under));
  const tax = rounded(fraction(sum(common.map(({ over }) => over)), under));
  const rounds = shares(tax, common);
  const mostTax = largestTax(parts, invoices);
  const credited: CreditedLine[] = [];
  for (const [index, { line, net }] of parts.entries()) {
    const before = sum(credited.map((one) => one.tax));
    const most = least(rounds[index] ?? 0n, mostTax - before);
    const taxes = taxesOf({ line, net }, most, credited, invoices);
    credited.push({ line, net, tax: sum(taxes), taxes });
  }
  return credited;
}

/**
 * Returns a part for each line of which something is left. Together they take what is left of the invoice: net amounts
 * first, then tax, both from the lines in order.
 */
function restOf(
  { lines }: ReferenceInvoice,
  invoices: readonly ReferenceInvoice[],
): readonly CreditedLine[] {
  const firsts = lines.filter(
    (line, place) => !lines.slice(0, place).some((one) => billedWith(one).includes(line)),
  );
  const left = firsts.map((line) =>
    billedWith(line).length > 0 ? leftOfAll(line, invoices) : leftOf(line, invoices),
  );
  let rest = notNegative(sum(left.map(({ net, taxes }) => net + sum(taxes))));
  const parts: Part[] = [];
  for (const line of lines) {
    const net = least(rest, creditableOf(line, invoices, takenBeside(line, parts)));
    rest -= net;
    parts.push({ line, net });
  }
  const credited: CreditedLine[] = [];
  for (const part of parts) {
    const taxes = taxesOf(part, rest, credited, invoices);
    rest -= sum(taxes);
    credited.push({ ...part, tax: sum(taxes), taxes });
  }
  return credited.filter((part) => part.net > 0n || part.tax > 0n);
}

/** Splits the tax of a part over the rates of its line, but takes no more than is left. */
function taxesOf(
  { line }: Part,
  tax: bigint,
  before: readonly CreditedLine[],
  invoices: readonly ReferenceInvoice[],
): readonly bigint[] {
  const beside = before.filter((one) => billedWith(line).includes(one.line));
  const left = taxesLeft(line, invoices, beside);
  const ofAll = creditableTaxOf(leftOfAll(line, invoices)) - sum(beside.map((one) => one.tax));
  return split(least(tax, least(sum(left), ofAll)), left);
}

/** Adds the credited amounts to the lines, or subtracts them if `sign` is -1. */
function takeBack(lines: readonly CreditedLine[], sign: 1n | -1n): void {
  for (const { line, net, tax, taxes: byRate } of lines) {
    const amount = net + inclusiveTaxOf(line.taxes, byRate);
    line.credited += sign * amount;
    const before = line.creditedByNotes;
    line.creditedByNotes = {
      net: before.net + sign * net,
      tax: before.tax + sign * tax,
      taxes: line.taxes.map(
        (_, place) => (before.taxes[place] ?? 0n) + sign * (byRate[place] ?? 0n),
      ),
      amount: before.amount + sign * amount,
    };
  }
}

function most(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function notNegative(amount: bigint): bigint {
  return most(amount, 0n);
}

function lower(one: Fraction, other: Fraction): Fraction {
  return one.over * other.under < other.over * one.under ? one : other;
}
