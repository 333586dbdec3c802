import { createHash } from 'node:crypto';

/** A seal: hash over the changes with positions in `(from, to]`, and over the hash of the previous seal. */
export interface Seal {
  /** Number of the seal: 1, 2, 3 and so on, without gaps. */
  readonly number: bigint;
  readonly from: bigint;
  readonly to: bigint;
  readonly changeCount: number;
  readonly hash: string;
  readonly createdAt: Date;
}

/** Number and hash of the changes in a range of positions, as they are in the database. */
export interface SealedChanges {
  readonly changeCount: number;
  /** SHA-256 over the rows of the changes, in hex. */
  readonly hash: string;
}

/** The part of a seal that the next seal continues, or the start of the chain. */
export type ChainEnd = Pick<Seal, 'number' | 'to' | 'hash'>;

/** Content of a seal over changes that the database could not read. Verification always reports such a seal. */
export const UNREADABLE: SealedChanges = { changeCount: 0, hash: 'unreadable' };

export const CHAIN_START: ChainEnd = { number: 0n, to: 0n, hash: '0'.repeat(64) };

/** Returns the seal that follows `previous` in the chain and covers the changes from there to `end.to`. */
export function sealAfter(
  previous: ChainEnd,
  content: SealedChanges,
  end: { readonly to: bigint; readonly createdAt: Date },
): Seal {
  const unhashed = {
    number: previous.number + 1n,
    from: previous.to,
    to: end.to,
    changeCount: content.changeCount,
    createdAt: end.createdAt,
  };
  return { ...unhashed, hash: hashOfSeal(unhashed, content.hash, previous.hash) };
}

function hashOfSeal(
  { number, from, to, changeCount, createdAt }: Omit<Seal, 'hash'>,
  contentHash: string,
  previousHash: string,
): string {
  const parts = [previousHash, number, from, to, changeCount, createdAt.toISOString(), contentHash];
  return createHash('sha256').update(parts.join(' ')).digest('hex');
}

export type SealFault =
  | 'changes_missing'
  | 'changes_added'
  | 'content_changed'
  | 'chain_broken'
  | 'unreadable'
  | 'unreadable_when_sealed'
  | 'seal_unreadable';

/**
 * Returns the reason why a seal does not match its changes or the previous seal; null if it matches.
 * @param content null: the database cannot read the changes
 */
export function faultOf(
  seal: Seal,
  previous: ChainEnd,
  content: SealedChanges | null,
): SealFault | null {
  if (seal.number !== previous.number + 1n || seal.from !== previous.to) return 'chain_broken';
  if (hashOfSeal(seal, UNREADABLE.hash, previous.hash) === seal.hash) {
    return 'unreadable_when_sealed';
  }
  if (content === null) return 'unreadable';
  if (content.changeCount < seal.changeCount) return 'changes_missing';
  if (content.changeCount > seal.changeCount) return 'changes_added';
  return hashOfSeal(seal, content.hash, previous.hash) === seal.hash ? null : 'content_changed';
}
