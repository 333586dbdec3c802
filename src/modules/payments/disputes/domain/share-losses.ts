import { greater, lesser } from '../../../../core/money';

/** Credit from a payment, as used by one invoice. Minor units. */
export interface UsedOfPayment {
  readonly invoiceId: string;
  /** Id of the payment that the credit came from. */
  readonly sourceId: string;
  readonly amountMinor: bigint;
}

/** A use of credit from a payment, and the part of the payment's loss that this use bears. */
type SharedUse = UsedOfPayment & { borneMinor: bigint };

/**
 * Divides lost credit among the invoices that used it. An invoice bears at most the credit that it used, and at most
 * what it can still give back. Losses are assigned in the order of `uses`. If an invoice can bear no more, losses of
 * other payments move from it to other invoices. In total, the invoices bear as much as possible (a maximum flow).
 * Returns the amounts by invoice id, without zeros.
 * @param lossOf lost part of the credit from a payment that invoices used
 * @param leftOf amount that an invoice can still give back, negative if it gave back too much
 */
export function shareLosses(
  uses: readonly UsedOfPayment[],
  lossOf: (paymentId: string) => bigint,
  leftOf: (invoiceId: string) => bigint,
): ReadonlyMap<string, bigint> {
  const shared: readonly SharedUse[] = uses.map((use) => ({ ...use, borneMinor: 0n }));
  const borneBy = (invoiceId: string): bigint =>
    shared.reduce((sum, use) => (use.invoiceId === invoiceId ? sum + use.borneMinor : sum), 0n);

  /**
   * Assigns up to `mostMinor` of a payment's loss to one invoice, and returns the assigned amount.
   * @param full invoices that get no loss, because they can bear no more
   */
  const place = (paymentId: string, mostMinor: bigint, full: ReadonlySet<string>): bigint => {
    for (const use of shared) {
      if (use.sourceId !== paymentId || full.has(use.invoiceId)) continue;
      const wantedMinor = lesser(mostMinor, use.amountMinor - use.borneMinor);
      if (wantedMinor <= 0n) continue;
      const room = greater(leftOf(use.invoiceId) - borneBy(use.invoiceId), 0n);
      const placedMinor = room > 0n ? lesser(wantedMinor, room) : moveAway(use, wantedMinor, full);
      use.borneMinor += placedMinor;
      if (placedMinor > 0n) return placedMinor;
    }
    return 0n;
  };
  /** Moves up to `mostMinor` of another payment's loss from the invoice of `use` to other invoices. */
  const moveAway = (use: SharedUse, mostMinor: bigint, full: ReadonlySet<string>): bigint => {
    const { invoiceId, sourceId } = use;
    for (const other of shared) {
      if (other.invoiceId !== invoiceId || other.sourceId === sourceId) continue;
      if (other.borneMinor === 0n) continue;
      const most = lesser(mostMinor, other.borneMinor);
      const movedMinor = place(other.sourceId, most, new Set([...full, invoiceId]));
      other.borneMinor -= movedMinor;
      if (movedMinor > 0n) return movedMinor;
    }
    return 0n;
  };

  for (const paymentId of new Set(uses.map(({ sourceId }) => sourceId))) {
    let restMinor = lossOf(paymentId);
    for (let placedMinor = 1n; placedMinor > 0n && restMinor > 0n; restMinor -= placedMinor) {
      placedMinor = place(paymentId, restMinor, new Set());
    }
  }
  const invoiceIds = new Set(uses.map(({ invoiceId }) => invoiceId));
  return new Map(
    [...invoiceIds].map((id) => [id, borneBy(id)] as const).filter(([, minor]) => minor > 0n),
  );
}
