import { AddedUsage } from './added';
import {
  type BilledIn,
  draft,
  finalize,
  isOwed,
  owedOf,
  type Payer,
  type ReferenceInvoice,
} from './bill';
import type { Redemption } from './redemption';
import { endOfMonths } from './calendar';
import type { Bills } from './charges';
import type { FinalUsage } from './final-usage';
import { CreditLimits, type GivenBack } from './given-back';
import { FOREVER, type Item } from './items';
import { type BilledLine, isTrueUp } from './line';
import { least } from './money';
import type { ReferenceSubscription } from './subscription';
import type { Usage } from './usage';

const HOUR_MS = 3_600_000;

interface Order {
  readonly subscription: ReferenceSubscription;
  readonly reason: string;
  readonly bills: Bills;
  readonly redemptions: readonly Redemption[];
  /** True for the last invoice of a subscription. */
  readonly closes: boolean;
  /** Start of the billing period that the invoice belongs to. */
  readonly period: number;
}

interface Waiting extends Order {
  readonly invoice: ReferenceInvoice;
  readonly finalizesAt: number;
}

interface Billed extends GivenBack {
  readonly now: number;
  readonly payer: Payer;
  readonly zone: string;
  readonly usage: Usage;
  readonly finalUsage: FinalUsage;
  readonly invoices: ReferenceInvoice[];
  readonly collection: { credited(invoice: ReferenceInvoice, now: number): void };
}

/** Creates invoices of the reference: at once, or as drafts that wait for late usage. */
export class Drafts {
  private waiting: Waiting[] = [];

  constructor(
    private readonly owner: Billed,
    private readonly graceHours: number,
  ) {}

  get planned(): readonly number[] {
    return this.waiting.map(({ finalizesAt }) => finalizesAt);
  }

  get nextDueAt(): number {
    return Math.min(FOREVER, ...this.planned);
  }

  /** Creates an invoice for the bills and the late usage, or no invoice if there are no lines. */
  issue(order: Order): void {
    const lines = this.linesOf(order);
    this.keepTerms(order, lines.length > 0 ? this.issueLines(order, lines) : null);
  }

  issueLines(order: Omit<Order, 'closes'>, lines: readonly BilledLine[]): ReferenceInvoice {
    const { subscription, reason, redemptions, period } = order;
    const { now, payer, invoices } = this.owner;
    const invoice = draft(subscription.index, reason, now, period);
    invoices.push(invoice);
    finalize(invoice, lines, redemptions, payer, now, this.billedIn(order));
    this.lowerOpen(invoice);
    return invoice;
  }

  /** Creates an invoice at the boundary of a period. It stays a draft until the grace period ends. */
  issueLater(order: Order, boundaryAt: number): void {
    const { now, invoices } = this.owner;
    const finalizesAt = boundaryAt + this.graceHours * HOUR_MS;
    // Without bills, there is only late usage, which needs no draft.
    if (finalizesAt <= now || order.bills.length === 0) {
      this.issue(order);
      return;
    }
    if (!order.bills.some(({ isUsage }) => isUsage) && this.isEmpty(order)) return;
    const invoice = draft(order.subscription.index, order.reason, now, order.period);
    invoices.push(invoice);
    this.waiting.push({ ...order, invoice, finalizesAt });
  }

  finalizeDue(): void {
    const due = this.waiting.find(({ finalizesAt }) => finalizesAt <= this.owner.now);
    if (due !== undefined) this.finalize(due);
  }

  /** Finalizes a draft on request. */
  finalizeEarly(invoice: ReferenceInvoice): string | null {
    const found = this.waiting.find((one) => one.invoice === invoice);
    if (found === undefined) throw new Error('The invoice is no draft.');
    if (this.isEmpty(found)) return 'invoice_empty';
    this.finalize(found);
    return null;
  }

  /** Finalizes the drafts that bill the items in advance, because these items are about to be credited or cut short. */
  finalizeFor({ index }: ReferenceSubscription, items: readonly Item[]): void {
    const isCut = ({ subscription, bills }: Waiting): boolean =>
      subscription.index === index &&
      bills.some(
        ({ advance }) =>
          advance !== null && advance.to > this.owner.now && items.includes(advance.item),
      );
    for (const waiting of this.waiting.filter(isCut)) this.finalize(waiting);
  }

  private finalize(waiting: Waiting): void {
    const { now, payer, invoices } = this.owner;
    const { invoice, redemptions } = waiting;
    this.waiting = this.waiting.filter((one) => one !== waiting);
    const lines = this.linesOf(waiting);
    if (lines.length > 0) {
      finalize(invoice, lines, redemptions, payer, now, this.billedIn(waiting));
      this.lowerOpen(invoice);
    } else invoices.splice(invoices.indexOf(invoice), 1);
    this.keepTerms(waiting, lines.length > 0 ? invoice : null);
  }

  /** Lowers the owed amounts of the subscription by the credit of a negative invoice, open invoices first. */
  private lowerOpen({ credit, subscription }: ReferenceInvoice): void {
    if (credit === null) return;
    const { invoices, collection, now } = this.owner;
    const owed = invoices.filter((one) => one.subscription === subscription && isOwed(one));
    const open = owed.filter(({ status }) => status === 'open');
    for (const invoice of [...open, ...owed.filter((one) => !open.includes(one))]) {
      const amount = least(credit.left, owedOf(invoice));
      if (amount === 0n) continue;
      credit.left -= amount;
      invoice.credited += amount;
      if (owedOf(invoice) === 0n) collection.credited(invoice, now);
      else invoice.events.push('updated');
    }
  }

  private isEmpty({ bills, subscription }: Order): boolean {
    return bills.every((one) => one.isNothing()) && !this.owner.usage.isLate(subscription.index);
  }

  private billedIn({ subscription, period: from }: Omit<Order, 'closes'>): BilledIn {
    return { from, all: subscription.redemptions, monthsFrom: this.monthsFrom };
  }

  readonly monthsFrom = (instant: number, months: number): number =>
    endOfMonths(instant, months, this.owner.zone);

  /**
   * Stores the terms of a bill for usage that got no line on it; later corrections of the usage need them. `invoice` is
   * null if the bill has no lines at all.
   */
  keepTerms(
    { redemptions, period }: Pick<Order, 'redemptions' | 'period'>,
    invoice: ReferenceInvoice | null,
  ): void {
    const { taxes, exemption } = this.owner.payer;
    const running = redemptions.filter(({ isUsedUp }) => !isUsedUp);
    const unused = running.map((redemption) => {
      return { redemption, isUsed: false, isLimited: false };
    });
    const coupons = invoice?.coupons ?? unused;
    const rates = exemption === 'none' ? taxes : [];
    this.owner.usage.keepTerms({ invoice, period, taxes: rates, exemption, coupons });
  }

  private linesOf({ bills, subscription, closes }: Order): readonly BilledLine[] {
    if (closes) this.owner.finalUsage.close(subscription.index);
    const ordered = bills.flatMap(({ make }) => make());
    const limits = new CreditLimits(this.owner);
    limits.count(ordered);
    return inOrder([
      ...ordered,
      ...this.owner.usage.late(subscription.index, limits, this.added()),
    ]);
  }

  added(): AddedUsage {
    return new AddedUsage(this.owner.invoices, this.monthsFrom);
  }
}

/** Sorts lines as an invoice has them: true-ups come last. */
export function inOrder(lines: readonly BilledLine[]): readonly BilledLine[] {
  const sorted = lines.toSorted((one, other) => placeOf(one) - placeOf(other));
  return [...sorted.filter((one) => !isTrueUp(one)), ...sorted.filter(isTrueUp)];
}

/** Returns the sort position of a line and its true-ups: prices in advance, in arrears, usage, credits. */
function placeOf({ type, usage, item, together }: BilledLine): number {
  if (type === 'credit') return 3;
  if (usage !== null) return 2;
  return (item ?? together[0]?.item ?? null) === null ? 1 : 0;
}
