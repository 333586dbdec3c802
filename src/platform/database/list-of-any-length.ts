/**
 * Returns SQL of a list parameter of a prepared statement. The subquery hides the number of elements from the planner.
 * Otherwise the planner would expect a plan for a short list to be cheaper than the cached plan, and plan each
 * execution again. Planning often takes longer than the statement.
 * @param parameter such as `$1`
 * @param type of an element
 */
export const listOfAnyLength = (parameter: string, type: string): string =>
  `(SELECT ${parameter}::${type}[])::${type}[]`;
