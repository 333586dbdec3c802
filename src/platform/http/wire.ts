import { invariant } from '../../core/invariant';
import { isWireSafe } from '../../core/money';

/** Amounts are JSON integers; one beyond +-(2^53-1) would be rounded by most readers, so it is refused. */
export function toWireAmount(amountMinor: bigint): number {
  invariant(isWireSafe(amountMinor), `The amount ${amountMinor} cannot be a JSON integer.`);
  return Number(amountMinor);
}

/** RFC 3339, UTC, milliseconds. */
export function toWireInstant(instant: Date): string;
export function toWireInstant(instant: Date | null): string | null;
export function toWireInstant(instant: Date | null): string | null {
  return instant === null ? null : instant.toISOString();
}
