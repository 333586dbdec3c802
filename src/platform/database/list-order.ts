/** Order by a column or an expression, and then by id. Rows with null in the column are left out of the list. */
export interface ListOrder {
  readonly column: string;
  readonly isAscending: boolean;
}

/** Parses a `sort` parameter: a column name, with a leading minus sign for descending order. Returns null for null. */
export function orderOf(sort: string | null): ListOrder | null {
  if (sort === null) return null;
  return { column: sort.replace(/^-/, ''), isAscending: !sort.startsWith('-') };
}

export const NEWEST_FIRST: ListOrder = { column: 'id', isAscending: false };

export function isSameOrder(one: ListOrder, other: ListOrder): boolean {
  return one.column === other.column && one.isAscending === other.isAscending;
}
