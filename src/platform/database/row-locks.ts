/**
 * SQL row locks, named after the purpose of the transaction. `reference` blocks only `deletion`. `change` blocks
 * `change` and `deletion`. `deletion` blocks all three; use it for archiving, too.
 */
export const ROW_LOCKS = {
  reference: 'FOR KEY SHARE',
  change: 'FOR NO KEY UPDATE',
  deletion: 'FOR UPDATE',
} as const;

export type LockPurpose = keyof typeof ROW_LOCKS;
