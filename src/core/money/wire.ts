/** Largest integer that every JSON reader represents exactly, 2^53 - 1. A larger amount is refused, never rounded. */
export const WIRE_MAX = 2n ** 53n - 1n;

/** Returns true if every JSON reader represents `amountMinor` exactly. The amount can be negative. */
export function isWireSafe(amountMinor: bigint): boolean {
  return amountMinor <= WIRE_MAX && amountMinor >= -WIRE_MAX;
}
