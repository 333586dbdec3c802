/**
 * The answer to a commit was lost. Its transaction was executed as a whole or not at all. Work of several transactions may be
 * done in part (see `CommitTrace`).
 */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';

  constructor(cause: unknown) {
    super('The answer to a commit is lost; the work was done as a whole or not at all.', { cause });
  }
}
