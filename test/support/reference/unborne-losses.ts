/** Refunded or lost money of one payment that credit from the payment did not cover, and the invoices that can bear it. */
export interface LossOfPayment {
  readonly amount: number;
  /** For each invoice, by id: how much of the payment it has received, as money or as credit. */
  readonly parts: ReadonlyMap<string, number>;
}

/**
 * Returns the part of the losses that no invoice can bear: the losses less a maximum flow to the invoices. For each
 * payment, an invoice bears at most what it received of it. In total, it bears at most what it has not given back.
 */
export function unborneLosses(
  losses: readonly LossOfPayment[],
  leftOf: ReadonlyMap<string, number>,
): number {
  const left = new Map(leftOf);
  const flows = losses.map(() => new Map<string, number>());
  /** Finds room for up to `amount` of a loss, and moves other losses to other invoices if that makes room. */
  const place = (index: number, amount: number, seen: ReadonlySet<string>): number => {
    for (const [invoice, part] of losses[index]?.parts ?? []) {
      const here = flows[index]?.get(invoice) ?? 0;
      const most = Math.min(amount, part - here);
      if (most <= 0 || seen.has(invoice)) continue;
      const room = left.get(invoice) ?? 0;
      let placed = Math.min(most, Math.max(room, 0));
      if (placed > 0) {
        left.set(invoice, room - placed);
      } else {
        placed = moveAway(invoice, most, new Set([...seen, invoice]));
      }
      if (placed === 0) continue;
      flows[index]?.set(invoice, here + placed);
      return placed;
    }
    return 0;
  };
  const moveAway = (invoice: string, amount: number, seen: ReadonlySet<string>): number => {
    for (const [other, flow] of flows.entries()) {
      const here = flow.get(invoice) ?? 0;
      if (here === 0) continue;
      const moved = place(other, Math.min(amount, here), seen);
      if (moved === 0) continue;
      flow.set(invoice, (flow.get(invoice) ?? 0) - moved);
      return moved;
    }
    return 0;
  };
  return losses.reduce((total, { amount }, index) => {
    let missing = amount;
    for (let placed = -1; placed !== 0 && missing > 0; missing -= placed) {
      placed = place(index, missing, new Set());
    }
    return total + missing;
  }, 0);
}
