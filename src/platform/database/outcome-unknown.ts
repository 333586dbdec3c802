/** The answer to a commit was lost. The database has executed all of the work or nothing. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';

  constructor(cause: unknown) {
    super('The answer to a commit is lost; the work was done as a whole or not at all.', { cause });
  }
}
