/** A month whose entries were dropped after their retention. */
export interface AuditDrop {
  /** `2026_03`. */
  readonly month: string;
  readonly entryCount: bigint;
  readonly changeCount: bigint;
  /** Last seal without remaining changes, and the position where it ends; 0 if each seal has remaining changes. */
  readonly throughSeal: bigint;
  readonly throughPosition: bigint;
  /** SHA-256 over the hashes of dropped changes after that position. */
  readonly keptDigest: string;
  readonly droppedAt: Date;
}
