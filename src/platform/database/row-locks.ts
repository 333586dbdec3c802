/**
 * SQL row locks, named after the purpose of the transaction. A `reference` lock blocks only `deletion`. A `change` lock
 * blocks `change` and `deletion`. A `deletion` lock blocks all three. Archiving a row needs the `deletion` lock, too.
 */
export const ROW_LOCKS = {
  reference: 'FOR KEY SHARE',
  change: 'FOR NO KEY UPDATE',
  deletion: 'FOR UPDATE',
} as const;

export type LockPurpose = keyof typeof ROW_LOCKS;
