import { cursorAt, positionOf } from './list-cursor';
import { type ListOrder, NEWEST_FIRST, orderOf } from './list-order';

const ID = 'cus_01h455vb4pex5vsknk084sn02q';
const ORDERS: readonly ListOrder[] = [
  NEWEST_FIRST,
  ...['name', '-name', 'created_at', '-created_at', 'id'].flatMap((sort) => orderOf(sort) ?? []),
];

describe('a cursor', () => {
  it.each([null, '', 'Ada Lovelace', ' a  b ', '😀'.repeat(200)])(
    'holds the id and the value %j',
    (value) => {
      for (const order of ORDERS.slice(1)) {
        expect(positionOf(cursorAt({ id: ID, value }, order), order)).toEqual({ id: ID, value });
      }
    },
  );

  it('of the newest is the id', () => {
    expect(cursorAt({ id: ID, value: null }, NEWEST_FIRST)).toBe(ID);
    expect(positionOf(ID, NEWEST_FIRST)).toEqual({ id: ID, value: null });
  });

  it('belongs to its order alone', () => {
    for (const order of ORDERS) {
      for (const value of [null, 'Ada']) {
        if (order === NEWEST_FIRST && value !== null) continue;
        const cursor = cursorAt({ id: ID, value }, order);
        for (const other of ORDERS.filter((one) => one !== order)) {
          expect(() => positionOf(cursor, other)).toThrow(/does not belong to this list/);
        }
      }
    }
  });

  it.each([ID, `${ID} Ada`, `${ID} 2026-03-01 09:30:00+00`])(
    'of a former release is refused in an order by a column: %s',
    (cursor) => {
      for (const order of ORDERS.slice(1)) expect(() => positionOf(cursor, order)).toThrow();
    },
  );
});
