/**
 * Thrown if it is unknown how much of the work was done.
 * - The answer to a commit was lost: all or nothing of the work was done.
 * - The database failed after a first commit (see `CommitTrace`): at least a part of the work was done.
 */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';

  constructor(cause: unknown) {
    super('The database failed; the work was done completely, in part or not at all.', { cause });
  }
}
