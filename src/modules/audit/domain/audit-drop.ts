export interface AuditDrop {
  /** Month as year and month, such as `2026_03`. */
  readonly month: string;
  readonly entryCount: bigint;
  readonly changeCount: bigint;
  /** Number of the last seal (checksum) whose changes were all dropped; 0: none. It ends at `throughPosition`. */
  readonly throughSeal: bigint;
  readonly throughPosition: bigint;
  /** SHA-256 over the stored hashes of dropped changes with positions after `throughPosition`, in hex. */
  readonly keptDigest: string;
  readonly droppedAt: Date;
}
