export function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

export function greater(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
