/**
 * It is unknown whether the work was done completely, in part or not at all. Thrown if the answer to a commit is lost;
 * the transaction or statement was then executed either as a whole or not at all. Also thrown if the database fails
 * after a part of the work was committed (see `CommitTrace`).
 */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';

  constructor(cause: unknown) {
    super('The database failed; the work was done completely, in part or not at all.', { cause });
  }
}
