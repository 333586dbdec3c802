/** A month whose entries were dropped after their retention. */
export interface AuditDrop {
  /** `2026_03`. */
  readonly month: string;
  readonly entryCount: bigint;
  readonly changeCount: bigint;
  /** Last seal of which no change is left, and the position where it ends; 0 if every seal has some left. */
  readonly throughSeal: bigint;
  readonly throughPosition: bigint;
  /** SHA-256 over the hashes of dropped changes after that position. */
  readonly keptDigest: string;
  readonly droppedAt: Date;
}
