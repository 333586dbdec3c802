/**
 * Order of a list: by a column or an expression. Rows with equal values are ordered by id. Rows with null in the column
 * are left out.
 */
export interface ListOrder {
  readonly column: string;
  readonly isAscending: boolean;
  /**
   * True if values may be too long for a cursor. The cursor then has only the id of its row, and the next page reads
   * the value from the row. A caller can write any id into a cursor, so allow this only in lists whose callers may read
   * all rows of the table.
   */
  readonly hasLongValues?: true;
}

/**
 * Returns the order that a `sort` parameter names: a column, after a minus sign if the order is descending. Null if the
 * parameter is null.
 */
export function orderOf(sort: string | null): ListOrder | null {
  if (sort === null) return null;
  return { column: sort.replace(/^-/, ''), isAscending: !sort.startsWith('-') };
}

export const NEWEST_FIRST: ListOrder = { column: 'id', isAscending: false };

export function isSameOrder(one: ListOrder, other: ListOrder): boolean {
  return one.column === other.column && one.isAscending === other.isAscending;
}
