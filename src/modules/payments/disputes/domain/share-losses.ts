import { greater, lesser } from '../../../../core/money';

/** Credit of a payment that an invoice used, in minor units. */
export interface UsedOfPayment {
  readonly invoiceId: string;
  /** Id of the payment. */
  readonly sourceId: string;
  readonly amountMinor: bigint;
}

/**
 * Divides losses of used credit over the invoices that used it, so that each unit counts on one invoice only. In the
 * order of `uses`, an invoice bears at most the credit that it used, and at most what it can still give back. Returns
 * the amounts by invoice id; invoices that bear nothing are absent.
 * @param lossOf loss of a payment whose credit was used
 * @param leftOf amount that an invoice can still give back, negative if it gave back too much
 */
export function shareLosses(
  uses: readonly UsedOfPayment[],
  lossOf: (paymentId: string) => bigint,
  leftOf: (invoiceId: string) => bigint,
): ReadonlyMap<string, bigint> {
  const shared = new Map<string, bigint>();
  const borneOf = new Map<string, bigint>();
  for (const { sourceId, invoiceId, amountMinor } of uses) {
    const sharedMinor = shared.get(sourceId) ?? 0n;
    const borneMinor = borneOf.get(invoiceId) ?? 0n;
    const maxMinor = lesser(amountMinor, lossOf(sourceId) - sharedMinor);
    const partMinor = greater(lesser(maxMinor, leftOf(invoiceId) - borneMinor), 0n);
    if (partMinor === 0n) continue;
    shared.set(sourceId, sharedMinor + partMinor);
    borneOf.set(invoiceId, borneMinor + partMinor);
  }
  return borneOf;
}
