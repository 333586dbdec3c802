/**
 * Divides renewals, in their order, into batches that recalculate at most `maxBalances` entitlement balances each. A
 * customer with more balances begins a new batch, which then exceeds the maximum. Several renewals of one customer in a
 * batch recalculate the balances of the customer only once.
 * @param balances number of balances to recalculate, by customer
 */
export function renewalBatches<Renewal extends { readonly customerId: string }>(
  renewals: readonly Renewal[],
  balances: ReadonlyMap<string, number>,
  maxBalances: number,
): readonly (readonly Renewal[])[] {
  const batches: Renewal[][] = [];
  let customers = new Set<string>();
  let total = 0;
  for (const renewal of renewals) {
    const { customerId } = renewal;
    const added = customers.has(customerId) ? 0 : (balances.get(customerId) ?? 0);
    const batch = batches.at(-1);
    if (batch !== undefined && (added === 0 || total + added <= maxBalances)) {
      batch.push(renewal);
      customers.add(customerId);
      total += added;
    } else {
      batches.push([renewal]);
      customers = new Set([customerId]);
      total = added;
    }
  }
  return batches;
}
