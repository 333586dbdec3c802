/** Number of customers that the first commit of a deletion purges. */
export const FIRST_PORTION = 20;

const LARGEST_PORTION = 500;
/**
 * Intended duration of a commit, in milliseconds. It is far below the longest acceptable duration, because some
 * customers have much more data than others.
 */
const TARGET_MS = 300;

/** Returns how many customers the next commit purges. The last commit purged `size` customers in `tookMs`. */
export function nextPortion(size: number, tookMs: number): number {
  const paced = Math.floor((size * TARGET_MS) / Math.max(tookMs, 1));
  return Math.max(1, Math.min(paced, 2 * size, LARGEST_PORTION));
}

/** Returns how many customers the next commit purges after a commit of `customers` customers failed. */
export function afterFailure(customers: number): number {
  return Math.max(1, Math.floor(customers / 2));
}
