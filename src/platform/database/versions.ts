import { preconditionFailed } from '../errors';

/** The versions a caller accepts to change: any, or those it names. */
export type VersionCondition = 'any' | readonly number[];

/** @throws {ProblemError} `precondition_failed` when the row has another version than the caller expects */
export function assertVersion(
  condition: VersionCondition,
  row: { readonly version: number },
): void {
  if (condition !== 'any' && !condition.includes(row.version)) throw preconditionFailed();
}
