import { createHash } from 'node:crypto';
import { invalidCursor } from '../errors';
import { isSameOrder, type ListOrder, NEWEST_FIRST } from './list-order';

/** Position of the last row of a page. */
export interface Position {
  readonly id: string;
  /** Value by which the row is sorted, as text. Null if the list is sorted by id. */
  readonly value: string | null;
}

/**
 * Returns the cursor of the page that follows a row.
 * - In a list sorted newest first: the id of the row.
 * - In any other list: the id, four characters that identify the order, and the sort value if there is one, separated
 *   by spaces. With the value, the next page starts at the same place even if the row has changed since.
 */
export function cursorAt({ id, value }: Position, order: ListOrder): string {
  const parts = isSameOrder(order, NEWEST_FIRST) ? [id] : [id, markOf(order)];
  return (value === null ? parts : [...parts, value]).join(' ');
}

/** @throws {ProblemError} `invalid_cursor` if the cursor was made for another order */
export function positionOf(cursor: string, order: ListOrder): Position {
  const [id = '', mark, ...value] = cursor.split(' ');
  const expected = isSameOrder(order, NEWEST_FIRST) ? undefined : markOf(order);
  if (mark !== expected) throw invalidCursor();
  return { id, value: value.length === 0 ? null : value.join(' ') };
}

/** Returns four characters that distinguish the order from the other orders of the list. */
function markOf({ column, isAscending }: ListOrder): string {
  const hash = createHash('sha256').update(`${column} ${String(isAscending)}`);
  return hash.digest('base64url').slice(0, 4);
}
