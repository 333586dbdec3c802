import { CallScope } from '../concurrency';
import { OutcomeUnknownError } from './outcome-unknown';
import { isDatabaseUnavailable } from './postgres-errors';

/** Records whether the first of several transactions has been committed. */
export class CommitTrace {
  private readonly scope = new CallScope<{ hasCommitted: boolean }>();

  /** Records a commit of the current work. */
  committed(): void {
    const current = this.scope.current;
    if (current !== undefined) current.hasCommitted = true;
  }

  /**
   * Runs work of several transactions.
   * @throws {OutcomeUnknownError} when the database fails after the first commit: a part is done, and may be completed
   * later
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const current = { hasCommitted: false };
    try {
      return await this.scope.run(current, work);
    } catch (error) {
      if (error instanceof OutcomeUnknownError || !isDatabaseUnavailable(error)) throw error;
      throw current.hasCommitted ? new OutcomeUnknownError(error) : error;
    }
  }
}
