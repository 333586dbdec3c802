import { type BilledLine, standing, type Taken, withTax } from './line';
import { sum } from './money';

/**
 * Divides new usage corrections, with their tax, over the invoices from which they take. Rounds each part up, and then
 * takes units off until the parts add up: at first where refunds can have left less, then where the invoice holds less
 * of the usage, from the last one on, and then from the smallest remainders. If refunds can have left too little of all
 * invoices, the parts stay rounded up.
 */
export function divideCorrections(lines: readonly BilledLine[]): void {
  for (const line of lines) {
    const taken = (line.taken ?? []).filter(({ amount }) => amount > 0n);
    const total = -withTax(line);
    const amount = sum(taken.map((part) => part.amount));
    for (const part of taken) part.whole = up(total * part.amount, amount);
    if (sum(taken.map(({ whole, most }) => (whole < most ? whole : most))) < total) continue;
    for (const part of taken) while (part.whole > part.most) part.whole -= 1n;
    for (let excess = sum(taken.map(({ whole }) => whole)) - total; excess > 0n; excess -= 1n) {
      const tooMuch = taken.findLast((part) => part.whole > 0n && leftOf(line, part) < 0n);
      const [smallest] = taken
        .filter(({ whole, amount: share }) => whole * amount > total * share)
        .sort((one, other) =>
          Number(
            ((total * one.amount) % amount) - ((total * other.amount) % amount) ||
              leftOf(line, one) + one.whole - leftOf(line, other) - other.whole,
          ),
        );
      const part = tooMuch ?? smallest;
      if (part !== undefined) part.whole -= 1n;
    }
  }
}

/** Divides positive numbers, rounded up. */
function up(whole: bigint, by: bigint): bigint {
  return (whole + by - 1n) / by;
}

/** Returns what an invoice holds of the corrected usage, after all corrections so far. */
function leftOf({ usage }: BilledLine, { from }: Taken): bigint {
  const all = standing(usage?.lines ?? []);
  const charges = all.filter((one) => from.includes(one) && one.taken === null);
  const ofNotes = charges.map(({ creditedByNotes: { net, tax } }) => net + tax);
  const corrected = all.flatMap(({ taken }) => taken ?? []).filter((one) => one.from === from);
  return sum(charges.map(withTax)) - sum(ofNotes) - sum(corrected.map(({ whole }) => whole));
}
