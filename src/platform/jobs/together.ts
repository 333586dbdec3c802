/** What to do about failures of pieces of work that are to be done together. */
export interface Failures<Piece> {
  /** They could not be done together, and are done one by one now. */
  readonly together: (error: unknown) => void;
  /** One of them could not be done; what this throws keeps the others from being done. */
  readonly alone: (error: unknown, piece: Piece) => void;
}

/**
 * Does pieces of work together, in one commit. Where that fails, each is done in a commit of its own, so that one that cannot
 * be done harms only itself. One alone has nothing to be done together with.
 * @param work does the pieces it is given, all or none
 */
export async function together<Piece>(
  pieces: readonly Piece[],
  work: (pieces: readonly Piece[]) => Promise<void>,
  failed: Failures<Piece>,
): Promise<void> {
  if (pieces.length > 1) {
    try {
      await work(pieces);
      return;
    } catch (error) {
      failed.together(error);
    }
  }
  for (const piece of pieces) {
    try {
      await work([piece]);
    } catch (error) {
      failed.alone(error, piece);
    }
  }
}
