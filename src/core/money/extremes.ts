/** Returns the lesser of two amounts. */
export function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** Returns the greater of two amounts. */
export function greater(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
