import { invariant } from '../invariant';
import { allocate, lesser, nonNegative, total } from '../money';
import type { Proration } from '../proration';
import { trueUp } from '../rating';
import type { LineAmount } from './line';

/** Minimum and maximum of a price for one period, and the amounts that count towards them. */
export type Commitment = {
  /** Id of the true-up line, if such a line is needed. */
  readonly lineId: string;
  /** The lines of this invoice that bill the price for the period. */
  readonly countedLineIds: ReadonlySet<string>;
  /** Amount that earlier invoices billed for the same price and period, true-ups included. */
  readonly alreadyBilledMinor: bigint;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
  /** Fraction of the minimum and maximum that applies to the period; null: they apply in full. */
  readonly proration: Proration | null;
  readonly taxRateIds: readonly string[];
};

/**
 * Returns the true-up lines of an invoice, in the order of the commitments. Also returns `cappedMinor`: the amount by
 * which a maximum lowers each line, by line id. Coupons do not discount this amount.
 * @throws InvariantError when a commitment counts a line that is not on the invoice, or its minimum is above its
 *   maximum.
 */
export function trueUps(
  currency: string,
  lines: readonly LineAmount[],
  commitments: readonly Commitment[],
): { readonly lines: readonly LineAmount[]; readonly cappedMinor: ReadonlyMap<string, bigint> } {
  const added: LineAmount[] = [];
  const cappedMinor = new Map<string, bigint>();
  for (const commitment of commitments) {
    const counted = lines.filter(({ lineId }) => commitment.countedLineIds.has(lineId));
    invariant(
      counted.length === commitment.countedLineIds.size,
      'a commitment counts lines of its invoice',
    );
    const billedMinor =
      commitment.alreadyBilledMinor + total(counted.map(({ amountMinor }) => amountMinor));
    const found = trueUp(billedMinor, commitment, commitment.proration);
    if (found === null) {
      continue;
    }
    const { lineId, taxRateIds } = commitment;
    added.push({ lineId, currency, taxRateIds, ...found });
    if (found.kind === 'maximum') {
      for (const [id, amountMinor] of spread(-found.amountMinor, counted)) {
        cappedMinor.set(id, (cappedMinor.get(id) ?? 0n) + amountMinor);
      }
    }
  }
  return { lines: added, cappedMinor };
}

/**
 * Splits `amountMinor` over the positive lines in proportion to their amounts. Splits at most the sum of these lines.
 */
function spread(amountMinor: bigint, lines: readonly LineAmount[]): (readonly [string, bigint])[] {
  const weights = lines.map((line) => nonNegative(line.amountMinor));
  const shares = allocate(lesser(amountMinor, total(weights)), weights);
  return lines.map(({ lineId }, index) => [lineId, shares[index] ?? 0n] as const);
}
