/**
 * The largest integer that every JSON reader holds exactly, 2^53 - 1. An amount beyond it is an
 * error on the wire, never rounded.
 */
export const WIRE_MAX = 2n ** 53n - 1n;

/** Returns true when JSON can carry `amountMinor` as an exact integer, in either sign. */
export function isWireSafe(amountMinor: bigint): boolean {
  return amountMinor <= WIRE_MAX && amountMinor >= -WIRE_MAX;
}
