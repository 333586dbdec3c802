/** A month whose entries were dropped after their retention. */
export interface AuditDrop {
  /** For example `2026_03`. */
  readonly month: string;
  readonly entryCount: bigint;
  readonly changeCount: bigint;
  /**
   * Number of the last seal of which all changes were dropped; 0: none. `throughPosition` is the last position of this
   * seal.
   */
  readonly throughSeal: bigint;
  readonly throughPosition: bigint;
  /** SHA-256 over the hashes of all dropped changes after `throughPosition`, in hex. */
  readonly keptDigest: string;
  readonly droppedAt: Date;
}
