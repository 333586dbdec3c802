import { invariant } from '../../core/invariant';
import { isWireSafe } from '../../core/money';

/** @throws {InvariantError} for an amount beyond +-(2^53-1), which most JSON readers would round */
export function toWireAmount(amountMinor: bigint): number {
  invariant(isWireSafe(amountMinor), `The amount ${amountMinor} cannot be a JSON integer.`);
  return Number(amountMinor);
}

/** Formats an instant as RFC 3339, in UTC, with milliseconds. */
export function toWireInstant(instant: Date): string;
export function toWireInstant(instant: Date | null): string | null;
export function toWireInstant(instant: Date | null): string | null {
  return instant === null ? null : instant.toISOString();
}
