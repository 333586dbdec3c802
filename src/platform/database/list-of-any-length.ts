/**
 * Returns SQL of a list parameter of a prepared statement. The subquery hides the number of its elements from the planner, which
 * would otherwise expect a plan for a short list to be cheaper than the cached one, and plan each execution again. Planning often
 * takes longer than the statement.
 * @param parameter such as `$1`
 * @param type of an element
 */
export const listOfAnyLength = (parameter: string, type: string): string =>
  `(SELECT ${parameter}::${type}[])::${type}[]`;
