/** Range of amounts, both ends inclusive, in minor units of one currency. Null: no limit. */
export interface AmountRange {
  readonly min: bigint | null;
  readonly max: bigint | null;
}
