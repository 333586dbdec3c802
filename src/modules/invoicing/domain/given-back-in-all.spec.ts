import fc from 'fast-check';
import { rational, roundToInteger } from '../../../core/decimal';
import { type HeldLines, maxWithTax, taxOfPart } from '../../../core/invoice';
import { greater, lesser, nonNegative } from '../../../core/money';
import { takenFrom, type UsageStep } from './corrected-parts';
import {
  limitCorrection,
  type HeldByInvoice,
  limitCredits,
  maxCreditable,
  maxRefundable,
  NOTHING_REFUNDED,
} from './given-back';

/** Other charges of each invoice, with tax. */
const OTHER_MINOR = 1_000n;

interface Bill {
  readonly id: string;
  readonly usageMinor: bigint;
  readonly taxMinor: bigint;
  readonly totalMinor: bigint;
  refundedMinor: bigint;
  /** Amount that credit notes gave back as credit, with tax, and the part of it that is tax. */
  notedMinor: bigint;
  notedTaxMinor: bigint;
}

/** Usage of one period on several paid invoices, with refunds, credit notes and corrections of the usage. */
class History {
  readonly bills: readonly Bill[];
  private readonly steps: UsageStep[];
  private readonly usageLeft: Map<string, bigint>;
  private heldMinor: bigint;
  private taxMinor: bigint;
  correctedMinor = 0n;

  constructor(
    usage: readonly bigint[],
    private readonly percentage: number,
  ) {
    this.bills = usage.map((usageMinor, index) => {
      const taxMinor = this.taxOf(usageMinor);
      const totalMinor = usageMinor + taxMinor + OTHER_MINOR;
      const given = { refundedMinor: 0n, notedMinor: 0n, notedTaxMinor: 0n };
      return { id: `${index}`, usageMinor, taxMinor, totalMinor, ...given };
    });
    this.steps = this.bills.map(({ id, usageMinor, taxMinor }) => ({
      invoiceId: id,
      grossMinor: usageMinor + taxMinor,
      corrects: null,
    }));
    this.usageLeft = new Map(this.bills.map(({ id, usageMinor }) => [id, usageMinor]));
    this.heldMinor = sum(this.bills.map(({ usageMinor }) => usageMinor));
    this.taxMinor = sum(this.bills.map((bill) => bill.taxMinor));
  }

  heldBy({ id, totalMinor, notedMinor }: Bill): HeldByInvoice {
    const heldMinor = totalMinor - notedMinor - takenFrom(id, this.steps);
    return { heldMinor, toRefundMinor: 0n, paidMinor: totalMinor };
  }

  refund(bill: Bill, leavesMinor: bigint): void {
    const most = maxRefundable(this.heldBy(bill), 0n) ?? bill.totalMinor;
    bill.refundedMinor = greater(bill.refundedMinor, greater(most, 0n) - leavesMinor);
  }

  /** Returns the usage that is left on an invoice, with its tax at the rate, rounded up. */
  usageOf({ id }: Bill): bigint {
    return maxWithTax(this.held(), this.usageLeft.get(id) ?? 0n);
  }

  correct(part: number): void {
    const amountMinor = part === 100 ? this.heldMinor : (this.heldMinor * BigInt(part)) / 100n;
    const creditable = this.bills.flatMap((bill) => {
      const most = this.creditable(bill);
      return most === null ? [] : [[bill.id, most] as const];
    });
    const limit = limitCredits(new Map(creditable));
    const { taken, mostMinor, held } = limitCorrection(
      amountMinor,
      this.held(),
      this.usageLeft,
      limit,
    );
    const givenMinor = mostMinor ?? amountMinor;
    const taxMinor = roundToInteger(taxOfPart(held, givenMinor).get('vat') ?? rational(0n));
    this.steps.push({
      invoiceId: 'later',
      grossMinor: -givenMinor - taxMinor,
      corrects: { taken, held },
    });
    for (const { invoiceId, amountMinor: partMinor } of taken) this.take(invoiceId, partMinor);
    this.taxMinor -= taxMinor;
    this.correctedMinor += givenMinor + taxMinor;
  }

  /** Credits a percentage of the usage that is left on an invoice, if this is within its limits. */
  note(bill: Bill, part: number): void {
    const netMinor = ((this.usageLeft.get(bill.id) ?? 0n) * BigInt(part)) / 100n;
    const leftMinor = lesser(this.taxMinor, bill.taxMinor - bill.notedTaxMinor);
    const taxMinor = lesser(this.taxOf(netMinor), leftMinor);
    const most = this.creditable(bill);
    if (most !== null && netMinor + taxMinor > most) return;
    bill.notedMinor += netMinor + taxMinor;
    bill.notedTaxMinor += taxMinor;
    this.steps.push({ invoiceId: bill.id, grossMinor: -netMinor - taxMinor, corrects: null });
    this.take(bill.id, netMinor);
    this.taxMinor -= taxMinor;
  }

  private creditable(bill: Bill): bigint | null {
    const refunded = { ...NOTHING_REFUNDED, moneyMinor: bill.refundedMinor };
    return maxCreditable(this.heldBy(bill), refunded);
  }

  private take(invoiceId: string, amountMinor: bigint): void {
    this.usageLeft.set(invoiceId, (this.usageLeft.get(invoiceId) ?? 0n) - amountMinor);
    this.heldMinor -= amountMinor;
  }

  private taxOf(netMinor: bigint): bigint {
    return (2n * netMinor * BigInt(this.percentage) + 100n) / 200n;
  }

  private held(): HeldLines {
    const vat = { taxRateId: 'vat', percentage: `${this.percentage}`, inclusive: false };
    return {
      heldMinor: this.heldMinor,
      taxes: [{ ...vat, leftMinor: this.taxMinor }],
      hasOneSetOfRates: true,
      discounts: [],
    };
  }
}

const sum = (minors: readonly bigint[]): bigint =>
  minors.reduce((total, minor) => total + minor, 0n);

/**
 * A correction of a percentage of what is left, after a credit note of the first invoice and refunds. These leave the
 * usage of each invoice with its tax rounded up, or a few units less or more; null: no refund.
 */
const rounds = fc.record({
  refunds: fc.array(fc.option(fc.bigInt(-2n, 1n)), { maxLength: 3 }),
  noted: fc.option(fc.nat(100), { freq: 1 }),
  part: fc.oneof(fc.constant(100), fc.nat(50)),
});

test.each([1, 2, 3])(
  'refunds, credit notes and corrections of usage on %d invoices give back no more than was paid',
  (count) => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt(1n, 20n), { minLength: count, maxLength: count }),
        fc.constantFrom(0, 5, 7, 10, 15, 19, 20, 25, 33, 50, 100),
        fc.array(rounds, { minLength: 2, maxLength: 3 }),
        (usage, percentage, steps) => {
          const history = new History(usage, percentage);
          const { bills } = history;
          for (const { noted, refunds, part } of steps) {
            for (const [index, bill] of bills.entries()) {
              const more = refunds[index] ?? null;
              if (index === 0 && noted !== null) history.note(bill, noted);
              if (more !== null) history.refund(bill, nonNegative(history.usageOf(bill) + more));
            }
            history.correct(part);
          }
          for (const bill of bills) history.refund(bill, 0n);
          for (const bill of bills) {
            expect(bill.refundedMinor).toBeLessThanOrEqual(history.heldBy(bill).heldMinor);
          }
          const refunded = sum(bills.map(({ refundedMinor }) => refundedMinor));
          const credited = sum(bills.map(({ notedMinor }) => notedMinor));
          const paid = sum(bills.map(({ totalMinor }) => totalMinor));
          expect(refunded + credited + history.correctedMinor).toBeLessThanOrEqual(paid);
        },
      ),
      { numRuns: 2_000 },
    );
  },
);
