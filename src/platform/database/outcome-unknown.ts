/**
 * Work was possibly done. If the answer to a commit was lost, its transaction was executed as a whole or not at all. Work that
 * commits in several parts also fails with this error when the database fails after a part was committed (see `CommitTrace`).
 */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';

  constructor(cause: unknown) {
    super('The answer to a commit is lost; the work was done as a whole or not at all.', { cause });
  }
}
