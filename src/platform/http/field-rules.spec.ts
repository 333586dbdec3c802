import { validateSync } from 'class-validator';
import { HasNoRepeats, IsInstant } from './field-rules';

class Fields {
  @IsInstant()
  at: unknown = '2026-03-01T00:00:00Z';

  @HasNoRepeats()
  list: unknown = [];
}

const faultsOf = (fields: Partial<Fields>): readonly string[] =>
  validateSync(Object.assign(new Fields(), fields)).map(({ property }) => property);

describe('an instant', () => {
  it.each([
    '2026-03-01T00:00:00Z',
    '2026-03-01T23:59:59.123456789+05:30',
    '2024-02-29T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '0001-01-01T01:00:00+01:00',
    '0000-12-31T23:30:00-01:00',
    '9999-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59+23:59',
    '2026-11-28t00:00:00z',
    '2026-11-28t23:59:59.123456789+05:30',
  ])('may be %s', (at) => {
    expect(faultsOf({ at })).toEqual([]);
    expect(new Date(at)).toEqual(new Date(at.toUpperCase()));
  });

  it.each([
    ['after the year 9999 in UTC', '9999-12-31T23:59:59-23:59'],
    ['after it by a minute', '9999-12-31T23:59:59-00:01'],
    ['before the year 1 in UTC', '0001-01-01T00:00:00+00:01'],
    ['of the year 0', '0000-01-01T00:00:00Z'],
    ['at hour 24', '2026-03-01T24:00:00Z'],
    ['at hour 25', '2026-03-01T25:00:00Z'],
    ['at minute 60', '2026-03-01T00:60:00Z'],
    ['at a leap second', '2016-12-31T23:59:60Z'],
    ['at hour 24 in lower case', '2026-03-01t24:00:00z'],
    ['on a day that is not', '2026-02-30T00:00:00Z'],
    ['on a day that is not, in lower case', '2026-02-30t00:00:00z'],
    ['at an offset of 24 hours', '2026-03-01T00:00:00+24:00'],
    ['without an offset', '2026-03-01T00:00:00'],
    ['without a time', '2026-03-01'],
    ['of a year with a sign', '+010000-01-01T00:00:00Z'],
    ['as a number', 1_772_323_200_000],
    ['as null', null],
  ])('cannot be one %s', (_, at) => {
    expect(faultsOf({ at })).toEqual(['at']);
  });
});

describe('a list without repeats', () => {
  it.each([[[]], [['a', 'b']], [[1, '1', null]]])('may be %j', (list) => {
    expect(faultsOf({ list })).toEqual([]);
  });

  it.each([[['a', 'a']], [[1, 2, 1]], [[null, null]], ['ab'], [{ length: 0 }]])(
    'cannot be %j',
    (list) => {
      expect(faultsOf({ list })).toEqual(['list']);
    },
  );
});
