import { preconditionFailed } from '../errors';

/** Row versions that a change accepts: any, or the listed ones. */
export type VersionCondition = 'any' | readonly number[];

/**
 * @throws {ProblemError} `precondition_failed` when the row has none of the accepted versions
 */
export function assertVersion(
  condition: VersionCondition,
  row: { readonly version: number },
): void {
  if (condition !== 'any' && !condition.includes(row.version)) throw preconditionFailed();
}
