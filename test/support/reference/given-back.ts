import type { ReferenceInvoice } from './bill';
import { type BilledLine, giveBack, netOf } from './line';
import { fraction, type Fraction, sum } from './money';
import { taxOnTop } from './tax';

interface GivenBack {
  /** Number of credits that refunds limited. */
  limitedCredits: number;
  readonly invoices: readonly ReferenceInvoice[];
  readonly payments: { refundedOf(invoice: ReferenceInvoice): bigint };
  readonly creditNotes: { givenOf(invoice: ReferenceInvoice): { readonly refunds: bigint } };
}

/** Sums the charges of an invoice with tax, less what later invoices and credit notes credited of them. */
export function standingOf(
  { lines }: ReferenceInvoice,
  { invoices }: Pick<GivenBack, 'invoices'>,
): bigint {
  const finalized = invoices.filter(({ status }) => status !== 'draft' && status !== 'void');
  const credits = finalized
    .flatMap((one) => one.lines)
    .filter(({ takesBack }) => takesBack !== null && lines.includes(takesBack));
  const charges = lines.filter(({ takesBack }) => takesBack === null);
  const noted = charges.map((line) => line.noted.net + line.noted.tax);
  return sum([...charges, ...credits].map((line) => netOf(line) + line.tax)) - sum(noted);
}

/** Limits the credits of one invoice: what refunds gave back of the credited invoices is not credited. */
export class CreditLimits {
  private readonly taken = new Map<ReferenceInvoice, bigint>();

  constructor(private readonly owner: GivenBack) {}

  /** Gives back a share of what lines of one invoice hold, as far as refunds left it. */
  giveBack(
    lines: readonly BilledLine[],
    share: Fraction,
    period: number,
  ): ReturnType<typeof giveBack> {
    const given = giveBack(lines, share, period);
    const invoice = this.owner.invoices.find((one) =>
      lines.some((line) => one.lines.includes(line)),
    );
    if (invoice === undefined || given.amount === 0n) return given;
    const { held } = given.back;
    const most = this.left(invoice);
    const costOf = (amount: bigint): bigint => amount + taxOnTop(lines, held, amount);
    let { amount } = given;
    // With a tax below 100 %, a quarter of the excess is never too much.
    for (let excess = costOf(amount) - most; amount > 0n && excess > 0n;) {
      amount -= excess > 20n ? excess / 4n : 1n;
      excess = costOf(amount) - most;
    }
    this.taken.set(invoice, (this.taken.get(invoice) ?? 0n) + costOf(amount));
    if (amount === given.amount) return given;
    this.owner.limitedCredits += 1;
    return giveBack(lines, fraction(amount, held), period);
  }

  private left(invoice: ReferenceInvoice): bigint {
    const { payments, creditNotes } = this.owner;
    const beyond = payments.refundedOf(invoice) - creditNotes.givenOf(invoice).refunds;
    const standing = standingOf(invoice, this.owner) - (beyond > 0n ? beyond : 0n);
    return standing - (this.taken.get(invoice) ?? 0n);
  }
}
