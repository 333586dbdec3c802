/** A month whose entries were dropped after their retention. */
export interface AuditDrop {
  /** For example `2026_03`. */
  readonly month: string;
  readonly entryCount: bigint;
  readonly changeCount: bigint;
  /**
   * Number of the last seal of which all changes were dropped, and the position at which it ends; both 0 if there is no
   * such seal.
   */
  readonly throughSeal: bigint;
  readonly throughPosition: bigint;
  /** SHA-256 over the hashes of dropped changes after `throughPosition`. */
  readonly keptDigest: string;
  readonly droppedAt: Date;
}
