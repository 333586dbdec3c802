import type { ReferenceInvoice } from './bill';
import { type BilledLine, giveBack, returnedOf, type Taken, withTax } from './line';
import { fraction, type Fraction, split, sum } from './money';
import { taxOnTop } from './tax';

export interface GivenBack {
  /** Number of credits that were smaller because of refunds. */
  limitedCredits: number;
  readonly invoices: readonly ReferenceInvoice[];
  readonly payments: { refundedOf(invoice: ReferenceInvoice): bigint };
  readonly creditNotes: { givenOf(invoice: ReferenceInvoice): { readonly refunds: bigint } };
}

type Given = ReturnType<typeof giveBack>;

/** Sums the charges of an invoice with tax, less the amounts that later invoices and credit notes credited or corrected. */
export function standingOf(
  { lines }: ReferenceInvoice,
  { invoices }: Pick<GivenBack, 'invoices'>,
): bigint {
  const finalized = invoices.filter(({ status }) => status !== 'draft' && status !== 'void');
  const later = finalized.flatMap((one) => one.lines);
  const credits = later.filter(
    ({ creditedLine }) => creditedLine !== null && lines.includes(creditedLine),
  );
  const corrected = later
    .flatMap(({ taken }) => taken ?? [])
    .filter(({ from }) => from === lines)
    .map(({ whole }) => whole);
  const charges = lines.filter(
    ({ creditedLine, taken }) => creditedLine === null && taken === null,
  );
  const ofNotes = charges.map(({ creditedByNotes: { net, tax } }) => net + tax);
  return sum([...charges, ...credits].map(withTax)) - sum(corrected) - sum(ofNotes);
}

/** Limits the credits of one invoice, so that money that refunds have returned is not credited again. */
export class CreditLimits {
  private readonly used = new Map<readonly BilledLine[], bigint>();

  constructor(private readonly owner: GivenBack) {}

  /** Counts credits that the new invoice contains already. */
  count(credits: readonly BilledLine[]): void {
    for (const { creditedLine, back, amount } of credits) {
      const invoice = creditedLine === null ? undefined : this.invoiceOf([creditedLine]);
      if (invoice !== undefined && back !== null) this.use(invoice, costOf(back, -amount));
    }
  }

  /** Returns a share of the amount that lines of one invoice hold, but no more than refunds of this invoice have left. */
  giveBack(lines: readonly BilledLine[], share: Fraction): Given {
    const given = giveBack(lines, share);
    const invoice = this.invoiceOf(lines);
    if (invoice === undefined || given.amount === 0n) return given;
    return this.limited(given, this.within(invoice, given, given.amount));
  }

  /** Divides a usage correction among the invoices that billed the usage. Refunds of an invoice limit its part. */
  correct(given: Given): Given & { readonly taken: readonly Taken[] } {
    const held = new Map<readonly BilledLine[], bigint>();
    const add = (from: readonly BilledLine[], amount: bigint) =>
      held.set(from, (held.get(from) ?? 0n) + amount);
    for (const line of given.back.lines) {
      if (line.taken === null) {
        add(this.invoiceOf([line])?.lines ?? [], line.amount - line.discount - line.credited);
      } else for (const { from, amount } of line.taken) add(from, -amount);
    }
    const sources = [...held].filter(([, amount]) => amount > 0n);
    const parts = split(
      given.amount,
      sources.map(([, amount]) => amount),
    );
    // A correction of all that several invoices hold takes all tax that is left, shared by its parts.
    const sharesTax = sources.length > 1 && given.amount >= given.back.held;
    const shared = { ...given, back: { ...given.back, sharesTax } };
    const taken = sources.map(([from], index) => {
      const all = parts[index] ?? 0n;
      const invoice = this.invoiceOf(from);
      const amount = invoice === undefined ? all : this.within(invoice, shared, all);
      return { from, amount, most: costOf(shared.back, amount), whole: 0n };
    });
    if (taken.length === 0) return { ...given, taken };
    return { ...this.limited(shared, sum(taken.map(({ amount }) => amount))), taken };
  }

  private limited(given: Given, amount: bigint): Given {
    if (amount === given.amount) return given;
    this.owner.limitedCredits += 1;
    const { held, discounts } = given.back;
    const returned = returnedOf(discounts, fraction(amount, held));
    return { amount, back: { ...given.back, returned } };
  }

  /** Returns as much of an amount as refunds have left of the invoice, and counts this as given back. */
  private within(invoice: ReferenceInvoice, { back }: Given, wanted: bigint): bigint {
    const most = this.left(invoice);
    if (most === null) return wanted;
    let amount = wanted;
    // Takes off a quarter of the excess, which is never too much if the tax is below 100 %.
    for (let excess = costOf(back, amount) - most; amount > 0n && excess > 0n;) {
      amount -= excess > 20n ? excess / 4n : 1n;
      excess = costOf(back, amount) - most;
    }
    this.use(invoice, costOf(back, amount));
    return amount;
  }

  private use({ lines }: ReferenceInvoice, amount: bigint): void {
    this.used.set(lines, (this.used.get(lines) ?? 0n) + amount);
  }

  private invoiceOf(lines: readonly BilledLine[]): ReferenceInvoice | undefined {
    return this.owner.invoices.find((one) => lines.some((line) => one.lines.includes(line)));
  }

  /** Returns the amount that refunds have left; null if all refunds pay out credit notes. */
  private left(invoice: ReferenceInvoice): bigint | null {
    const { payments, creditNotes } = this.owner;
    const beyond = payments.refundedOf(invoice) - creditNotes.givenOf(invoice).refunds;
    if (beyond <= 0n) return null;
    return standingOf(invoice, this.owner) - beyond - (this.used.get(invoice.lines) ?? 0n);
  }
}

function costOf(back: Given['back'], amount: bigint): bigint {
  return amount + taxOnTop(back, amount);
}
