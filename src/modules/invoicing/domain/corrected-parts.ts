import { type HeldLines, maxWithTax } from '../../../core/invoice';
import { lesser, nonNegative, total } from '../../../core/money';
import type { TakenFrom } from './given-back';

/**
 * One change of what invoices bill for the usage of one item and period, with tax, in minor units. Positive: an invoice
 * billed the usage. Negative: a credit note or a usage correction took a part of it back.
 */
export interface UsageStep {
  readonly invoiceId: string;
  readonly grossMinor: bigint;
  /** The invoices from which a usage correction takes its amount; null if the change is not a usage correction. */
  readonly corrects: {
    /** Amounts taken from each invoice, before exclusive tax. */
    readonly taken: readonly TakenFrom[];
    readonly held?: HeldLines;
  } | null;
}

interface Source {
  readonly invoiceId: string;
  readonly amountMinor: bigint;
  /** Amount, with tax, that the invoice still bills for the usage. */
  readonly leftMinor: bigint;
}

/**
 * Returns how much usage corrections took from an invoice, with tax, in minor units. The part that a correction takes
 * from each invoice never changes afterwards, because refunds rely on it.
 * @param steps in the order of their creation
 */
export function takenFrom(invoiceId: string, steps: readonly UsageStep[]): bigint {
  const left = new Map<string, bigint>();
  const add = (id: string, minor: bigint): unknown => left.set(id, (left.get(id) ?? 0n) + minor);
  let takenMinor = 0n;
  for (const { corrects, grossMinor, ...step } of steps) {
    const taken = corrects?.taken ?? [];
    if (taken.length === 0) add(step.invoiceId, grossMinor);
    const sources = taken
      .filter(({ amountMinor }) => amountMinor > 0n)
      .map((source) => ({ ...source, leftMinor: nonNegative(left.get(source.invoiceId) ?? 0n) }));
    const parts = divide(-grossMinor, sources, corrects?.held);
    sources.forEach((source, index) => {
      const partMinor = parts[index] ?? 0n;
      add(source.invoiceId, -partMinor);
      if (source.invoiceId === invoiceId) takenMinor += partMinor;
    });
  }
  return takenMinor;
}

/**
 * Divides a correction among the invoices that it takes from, in proportion to the amounts in `sources`.
 * - A part is at most its proportion rounded up, and at most its amount with tax rounded up. Refunds can have left no
 *   more of the invoice.
 * - Within these limits, the parts add up to the correction. A part exceeds `leftMinor` only if the sum requires it.
 * - If the limits add up to less than the correction, each proportion is rounded up. Then too little is left to refund,
 *   rather than too much. Corrections stored by former versions can have such limits.
 */
function divide(
  grossMinor: bigint,
  sources: readonly Source[],
  held: HeldLines | undefined,
): readonly bigint[] {
  const wholeMinor = total(sources.map(({ amountMinor }) => amountMinor));
  const limited = sources.map(({ amountMinor, leftMinor }) => {
    const floorMinor = (grossMinor * amountMinor) / wholeMinor;
    const remainder = (grossMinor * amountMinor) % wholeMinor;
    const upMinor = remainder === 0n ? floorMinor : floorMinor + 1n;
    const mostMinor = held === undefined ? 0n : lesser(upMinor, maxWithTax(held, amountMinor));
    const partMinor = lesser(mostMinor, leftMinor);
    return { leftMinor, floorMinor, remainder, upMinor, mostMinor, partMinor };
  });
  if (total(limited.map(({ mostMinor }) => mostMinor)) < grossMinor) {
    return limited.map(({ upMinor }) => upMinor);
  }
  const excessMinor = total(limited.map(({ partMinor }) => partMinor)) - grossMinor;
  const lowered = new Set(
    limited
      .filter(({ partMinor, floorMinor }) => partMinor > floorMinor)
      .toSorted((one, other) =>
        Number(one.remainder - other.remainder || one.leftMinor - other.leftMinor),
      )
      .slice(0, Number(nonNegative(excessMinor))),
  );
  let missingMinor = nonNegative(-excessMinor);
  return limited.map((one) => {
    const moreMinor = lesser(missingMinor, one.mostMinor - one.partMinor);
    missingMinor -= moreMinor;
    return one.partMinor + moreMinor - (lowered.has(one) ? 1n : 0n);
  });
}
