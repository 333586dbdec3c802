import { isOwed, type ReferenceInvoice, runningAt } from './bill';
import { creditOf } from './charges';
import { type Drafts, inOrder } from './drafts';
import { CreditLimits } from './given-back';
import { type BilledLine, UNTOUCHED } from './line';
import type { ReferenceSubscription } from './subscription';
import type { Usage } from './usage';
import { isCredited, voidInvoice } from './voids';

interface Corrected {
  limitedCredits: number;
  readonly now: number;
  readonly zone: string;
  readonly drafts: Drafts;
  readonly invoices: readonly ReferenceInvoice[];
  readonly payments: { refundedOf(invoice: ReferenceInvoice): bigint };
  readonly creditNotes: { givenOf(invoice: ReferenceInvoice): { readonly refunds: bigint } };
  readonly usage: Usage;
  readonly firstPayments: {
    isAwaited(invoice: ReferenceInvoice): boolean;
    givenUp(invoice: ReferenceInvoice): void;
  };
  invoice(place: number): ReferenceInvoice;
  subscription(index: number): ReferenceSubscription;
}

/** Applies manual changes to invoices of the reference; each returns the code of the refusal, if any. */
export class Corrections {
  constructor(private readonly owner: Corrected) {}

  void(place: number): string | null {
    const invoice = this.owner.invoice(place);
    if (!isOwed(invoice)) return 'invalid_transition';
    if (isCredited(invoice) || invoice.credited > 0n) return 'invoice_credited';
    if (invoice.paid > 0n) return 'invoice_partly_paid';
    const { redemptions } = this.owner.subscription(invoice.subscription);
    voidInvoice(invoice, this.owner.now, redemptions, this.owner.zone);
    this.owner.usage.reopen(invoice.lines);
    this.owner.firstPayments.givenUp(invoice);
    return null;
  }

  writeOff(place: number): string | null {
    const invoice = this.owner.invoice(place);
    if (invoice.status !== 'open') return 'invalid_transition';
    if (this.owner.firstPayments.isAwaited(invoice)) return 'invoice_not_owed';
    invoice.status = 'uncollectible';
    invoice.chargeAt = this.owner.now;
    invoice.events.push('uncollectible');
    return null;
  }

  /** Regenerates a void invoice. Coupons that ended with the subscription discount it again. */
  regenerate(place: number): string | null {
    const { subscription, reason } = this.owner.invoice(place);
    const { redemptions } = this.owner.subscription(subscription);
    const ended = redemptions.filter(
      ({ isOver, isRemoved }) => reason !== 'late_usage' && isOver && !isRemoved,
    );
    for (const redemption of ended) redemption.isOver = false;
    const refusal = this.makeAgain(place);
    for (const redemption of ended) redemption.isOver = true;
    return refusal;
  }

  private makeAgain(place: number): string | null {
    const { lines, subscription, reason, isVoidedUnpaid, period } = this.owner.invoice(place);
    const isNoLongerOwed = lines.some(
      ({ item, creditedLine, to }) => creditedLine === null && item !== null && item.to < to,
    );
    if (isVoidedUnpaid || isNoLongerOwed) return 'invoice_overtaken';
    const limits = new CreditLimits(this.owner);
    const charges = lines.flatMap((line): readonly BilledLine[] => {
      const { creditedLine: from, capped } = line;
      if (from === null) return line.usage === null ? [{ ...line, ...UNTOUCHED, capped }] : [];
      const isBilled = line.item?.billed.includes(from) ?? false;
      return isBilled && !from.isTakenBack ? creditOf(from, line.part, line.from, limits) : [];
    });
    const { drafts, usage, now } = this.owner;
    const used = usage.billAgain(lines, limits, drafts.added(), charges.length > 0);
    const again = inOrder([...charges, ...used]);
    if (again.length === 0) return 'invoice_overtaken';
    for (const line of again) {
      const { together } = line;
      if (together.includes(line)) continue;
      const copies = again.filter((one) => one.together === together);
      for (const copy of copies) copy.together = copies;
    }
    for (const line of again) {
      if (line.creditedLine === null) line.item?.billed.push(line);
    }
    const billed = this.owner.subscription(subscription);
    const redemptions = runningAt(billed.redemptions, now, period);
    const order = { subscription: billed, reason, bills: [], redemptions, period };
    const invoice = drafts.issueLines(order, again);
    drafts.keepTerms(order, invoice);
    Object.assign(this.owner.invoice(place), { isRegenerated: true, againAs: invoice });
    return null;
  }
}
