import { CallScope } from '../concurrency';
import { OutcomeUnknownError } from './outcome-unknown';
import { isDatabaseUnavailable } from './postgres-errors';

/** Tracks whether work that consists of several transactions has committed any of them. */
export class CommitTrace {
  private readonly scope = new CallScope<{ hasCommitted: boolean }>();

  /** Records that the current work has committed a transaction. Does nothing outside of {@link run}. */
  markCommitted(): void {
    const current = this.scope.current;
    if (current !== undefined) current.hasCommitted = true;
  }

  /**
   * Runs work that consists of several transactions.
   * @throws {OutcomeUnknownError} if the database becomes unavailable after the first commit. A part of the work is
   *   then committed, and the caller cannot know how much.
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
