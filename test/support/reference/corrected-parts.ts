import { type BilledLine, standing, type Taken, withTax } from './line';
import { split, sum } from './money';

/**
 * Divides new usage corrections, with their tax, over the invoices from which they take. Moves single units away from an
 * invoice that holds less of the usage than its part.
 */
export function divideCorrections(lines: readonly BilledLine[]): void {
  for (const line of lines) {
    const taken = (line.taken ?? []).filter(({ amount }) => amount > 0n);
    const wholes = split(
      -withTax(line),
      taken.map(({ amount }) => amount),
    );
    taken.forEach((part, place) => Object.assign(part, { whole: wholes[place] ?? 0n }));
    const holdsTooLittle = (): Taken | undefined =>
      taken.find((part) => part.whole > 0n && leftOf(line, part) < 0n);
    const holdsMore = (): Taken | undefined => taken.find((part) => leftOf(line, part) > 0n);
    for (
      let [less, more] = [holdsTooLittle(), holdsMore()];
      less !== undefined && more !== undefined;
    ) {
      less.whole -= 1n;
      more.whole += 1n;
      [less, more] = [holdsTooLittle(), holdsMore()];
    }
  }
}

/** Returns what an invoice holds of the corrected usage, after all corrections so far. */
function leftOf({ usage }: BilledLine, { from }: Taken): bigint {
  const all = standing(usage?.lines ?? []);
  const charges = all.filter((one) => from.includes(one) && one.taken === null);
  const ofNotes = charges.map(({ creditedByNotes: { net, tax } }) => net + tax);
  const corrected = all.flatMap(({ taken }) => taken ?? []).filter((one) => one.from === from);
  return sum(charges.map(withTax)) - sum(ofNotes) - sum(corrected.map(({ whole }) => whole));
}
