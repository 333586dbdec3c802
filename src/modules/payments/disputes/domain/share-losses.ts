import { greater, lesser } from '../../../../core/money';

/** Credit of a payment that an invoice used, in minor units. */
export interface UsedOfPayment {
  readonly invoiceId: string;
  /** Id of the payment. */
  readonly sourceId: string;
  readonly amountMinor: bigint;
}

/** A use of credit, and the part of the payment's loss that the invoice bears. */
type SharedUse = UsedOfPayment & { borneMinor: bigint };

/**
 * Divides losses of used credit over the invoices that used it, so that each unit counts on one invoice only. In the
 * order of `uses`, an invoice bears at most the credit that it used, and at most what it can still give back. If an
 * invoice has no room left, losses on it move to other invoices that used the same payments, so that as much as possible
 * is borne (a maximum flow). Returns the amounts by invoice id; invoices that bear nothing are absent.
 * @param lossOf loss of a payment whose credit was used
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
   * Puts up to `mostMinor` of a payment's loss on one invoice, and returns how much.
   * @param full invoices without room from which losses are being moved
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
  /** Moves up to `mostMinor` of the loss of another payment away from the invoice of `use`. */
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
