/**
 * Returns SQL for an array parameter of a prepared statement. The subquery hides the length of the array from the
 * planner. Otherwise the planner would expect a plan for a short array to be cheaper than the cached plan, and make a
 * new plan for each execution. Planning often takes longer than the statement itself.
 * @param parameter such as `$1`
 * @param type PostgreSQL type of an element
 */
export const listOfAnyLength = (parameter: string, type: string): string =>
  `(SELECT ${parameter}::${type}[])::${type}[]`;
