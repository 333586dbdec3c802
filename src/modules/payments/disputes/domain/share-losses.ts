import { groupBy } from '../../../../core/grouping';
import { greater, lesser } from '../../../../core/money';

/**
 * Credit that one invoice used and that came from one payment, in minor units. Credit is the money of a payment that
 * paid no invoice.
 */
export interface UsedOfPayment {
  readonly invoiceId: string;
  readonly sourceId: string;
  readonly amountMinor: bigint;
}

/** An invoice's use of credit from a payment, and the part of the payment's losses that this invoice bears. */
type SharedUse = UsedOfPayment & { borneMinor: bigint };

/**
 * Divides lost credit among the invoices that used it, in the order of `uses`. An invoice bears at most the credit that
 * it used, and at most the amount `leftOf`. If an invoice is full, its share of another payment's losses moves to
 * another invoice that used credit from that payment. The invoices together thus bear as much as possible (a maximum
 * flow). Returns minor units by invoice id, without zeros.
 * @param lossOf returns the lost part of the credit that invoices used from a payment
 * @param leftOf returns how much of an invoice can still be credited or refunded; negative if more was given back than
 *   the invoice allows
 */
export function shareLosses(
  uses: readonly UsedOfPayment[],
  lossOf: (paymentId: string) => bigint,
  leftOf: (invoiceId: string) => bigint,
): ReadonlyMap<string, bigint> {
  const shared: readonly SharedUse[] = uses.map((use) => ({ ...use, borneMinor: 0n }));
  const sharedOfPayment = groupBy(shared, ({ sourceId }) => sourceId);
  const sharedOfInvoice = groupBy(shared, ({ invoiceId }) => invoiceId);
  const borneBy = (invoiceId: string): bigint =>
    (sharedOfInvoice.get(invoiceId) ?? []).reduce((sum, use) => sum + use.borneMinor, 0n);

  /**
   * Assigns up to `mostMinor` of a payment's loss to one invoice, and returns the assigned amount.
   * @param full ids of invoices without room and of payments that were already searched. The search adds to these ids
   */
  const place = (paymentId: string, mostMinor: bigint, full: Set<string>): bigint => {
    if (full.has(paymentId)) return 0n;
    full.add(paymentId);
    for (const use of sharedOfPayment.get(paymentId) ?? []) {
      if (full.has(use.invoiceId)) continue;
      const wantedMinor = lesser(mostMinor, use.amountMinor - use.borneMinor);
      if (wantedMinor <= 0n) continue;
      const room = greater(leftOf(use.invoiceId) - borneBy(use.invoiceId), 0n);
      const placedMinor = room > 0n ? lesser(wantedMinor, room) : moveAway(use, wantedMinor, full);
      use.borneMinor += placedMinor;
      if (placedMinor > 0n) return placedMinor;
    }
    return 0n;
  };
  /**
   * Makes room on the invoice of `use`: moves its share of the losses of other payments, at most `mostMinor`, to other
   * invoices. Returns the moved amount.
   */
  const moveAway = (use: SharedUse, mostMinor: bigint, full: Set<string>): bigint => {
    const { invoiceId, sourceId } = use;
    full.add(invoiceId);
    for (const other of sharedOfInvoice.get(invoiceId) ?? []) {
      if (other.sourceId === sourceId || other.borneMinor === 0n) continue;
      const most = lesser(mostMinor, other.borneMinor);
      const movedMinor = place(other.sourceId, most, full);
      other.borneMinor -= movedMinor;
      if (movedMinor > 0n) return movedMinor;
    }
    return 0n;
  };

  for (const paymentId of sharedOfPayment.keys()) {
    let restMinor = lossOf(paymentId);
    for (let placedMinor = 1n; placedMinor > 0n && restMinor > 0n; restMinor -= placedMinor) {
      placedMinor = place(paymentId, restMinor, new Set());
    }
  }
  return new Map(
    [...sharedOfInvoice.keys()]
      .map((id) => [id, borneBy(id)] as const)
      .filter(([, minor]) => minor > 0n),
  );
}
