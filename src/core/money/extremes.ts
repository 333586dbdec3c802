export function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

export function greater(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** Returns the amount, or 0 if it is negative. */
export function nonNegative(amountMinor: bigint): bigint {
  return greater(amountMinor, 0n);
}
