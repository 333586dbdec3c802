import { draft, finalize, type Payer, type Redemption, type ReferenceInvoice } from './bill';
import type { Bills } from './charges';
import { FOREVER, type Item } from './items';
import { type BilledLine, isTrueUp } from './line';
import type { ReferenceSubscription } from './subscription';
import type { Usage } from './usage';

const HOUR_MS = 3_600_000;

interface Order {
  readonly subscription: ReferenceSubscription;
  readonly reason: string;
  readonly bills: Bills;
  readonly redemptions: readonly Redemption[];
}

interface Waiting extends Order {
  readonly invoice: ReferenceInvoice;
  readonly finalizesAt: number;
}

interface Billed {
  readonly now: number;
  readonly payer: Payer;
  readonly usage: Usage;
  readonly invoices: ReferenceInvoice[];
}

/** Invoices of the reference from what is ordered: at once, or as drafts that wait for usage that comes late. */
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

  /** An invoice of what is ordered and of what came late, if that is anything. */
  issue(order: Order): void {
    const lines = this.linesOf(order);
    if (lines.length > 0) this.issueLines(order, lines);
  }

  issueLines({ subscription, reason, redemptions }: Order, lines: readonly BilledLine[]): void {
    const { now, payer, invoices } = this.owner;
    const invoice = draft(subscription.index, reason, now);
    invoices.push(invoice);
    finalize(invoice, lines, redemptions, payer, now);
  }

  /** The same after a border of periods, once the grace has passed. */
  issueLater(order: Order, borderAt: number): void {
    const { now, invoices } = this.owner;
    const finalizesAt = borderAt + this.graceHours * HOUR_MS;
    if (finalizesAt <= now) {
      this.issue(order);
      return;
    }
    if (!order.bills.some(({ isUsage }) => isUsage) && this.isEmpty(order)) return;
    const invoice = draft(order.subscription.index, order.reason, now);
    invoices.push(invoice);
    this.waiting.push({ ...order, invoice, finalizesAt });
  }

  finalizeDue(): void {
    const due = this.waiting.find(({ finalizesAt }) => finalizesAt <= this.owner.now);
    if (due !== undefined) this.finalize(due);
  }

  /** Somebody asks for it. */
  finalizeEarly(invoice: ReferenceInvoice): string | null {
    const found = this.waiting.find((one) => one.invoice === invoice);
    if (found === undefined) throw new Error('The invoice is no draft.');
    if (this.isEmpty(found)) return 'invoice_empty';
    this.finalize(found);
    return null;
  }

  /** What is credited or cut short was billed. */
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
    if (lines.length > 0) finalize(invoice, lines, redemptions, payer, now);
    else invoices.splice(invoices.indexOf(invoice), 1);
  }

  private isEmpty({ bills, subscription }: Order): boolean {
    return bills.every((one) => one.isNothing()) && !this.owner.usage.isLate(subscription.index);
  }

  private linesOf({ bills, subscription }: Order): readonly BilledLine[] {
    const ordered = bills.flatMap(({ make }) => make());
    const lines = [...ordered, ...this.owner.usage.late(subscription.index)];
    return [...lines.filter((one) => !isTrueUp(one)), ...lines.filter(isTrueUp)];
  }
}
