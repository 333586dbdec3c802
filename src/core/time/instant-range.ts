/** Range of instants: `from` inclusive, `to` exclusive. Null: no limit. */
export interface InstantRange {
  readonly from: Date | null;
  readonly to: Date | null;
}
