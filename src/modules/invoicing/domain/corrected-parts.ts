import { allocate, lesser, nonNegative } from '../../../core/money';
import type { TakenFrom } from './given-back';

/**
 * Change of the amount that invoices hold of the usage of one item and period, with tax, in minor units. Positive: the
 * invoice billed it. Negative: a credit note of the invoice took it, or a usage correction on the invoice, which takes
 * it from the invoices in `taken`.
 */
export interface UsageStep {
  readonly invoiceId: string;
  readonly grossMinor: bigint;
  /** Parts of a usage correction before exclusive tax; empty for other steps. */
  readonly taken: readonly TakenFrom[];
}

/**
 * Returns how much usage corrections took from an invoice, with tax. Each correction is divided in proportion to `taken`
 * by largest remainder. A part that exceeds what its invoice holds of the usage at that step passes the excess on to
 * those that hold more than their part, in the order of `taken`. So the parts of a correction add up to it, and the last
 * correction takes from each invoice the tax that this invoice billed, however it was rounded. Later steps do not change
 * the parts, because refunds rely on them.
 * @param steps in the order of their creation
 */
export function takenFrom(invoiceId: string, steps: readonly UsageStep[]): bigint {
  const left = new Map<string, bigint>();
  const add = (id: string, minor: bigint): unknown => left.set(id, (left.get(id) ?? 0n) + minor);
  let takenMinor = 0n;
  for (const step of steps) {
    const sources = step.taken.filter(({ amountMinor }) => amountMinor > 0n);
    if (step.taken.length === 0) add(step.invoiceId, step.grossMinor);
    if (sources.length === 0) continue;
    const parts = passExcess(
      allocate(
        -step.grossMinor,
        sources.map(({ amountMinor }) => amountMinor),
      ),
      sources.map((source) => nonNegative(left.get(source.invoiceId) ?? 0n)),
    );
    sources.forEach((source, index) => {
      const partMinor = parts[index] ?? 0n;
      add(source.invoiceId, -partMinor);
      if (source.invoiceId === invoiceId) takenMinor += partMinor;
    });
  }
  return takenMinor;
}

/** Moves what exceeds a limit to parts below theirs, the first ones first. An excess for which none has room stays. */
function passExcess(parts: readonly bigint[], limits: readonly bigint[]): readonly bigint[] {
  const passed = [...parts];
  const overOf = (index: number): bigint => (passed[index] ?? 0n) - (limits[index] ?? 0n);
  for (const from of parts.keys()) {
    for (const to of parts.keys()) {
      const movedMinor = nonNegative(lesser(overOf(from), -overOf(to)));
      passed[from] = (passed[from] ?? 0n) - movedMinor;
      passed[to] = (passed[to] ?? 0n) + movedMinor;
    }
  }
  return passed;
}
