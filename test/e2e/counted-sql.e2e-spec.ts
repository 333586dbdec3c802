import { createHash } from 'node:crypto';
import { countedOf, GROUP_KEY, groupKeyOf } from '../../src/modules/metering/store/counted-sql';
import { startTestApp, type TestApp } from '../support/test-app';

interface Counted {
  readonly value: string | null;
  readonly text: string | null;
}

/** Values that the counting SQL reads from one event. */
describe('the SQL that counts events', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  const groupOf = async (properties: object, groupBy: readonly string[]): Promise<string> => {
    const [row] = await engine.database.query<{ key: string; short: string }>(
      `SELECT ${GROUP_KEY} AS key, ${groupKeyOf(groupBy.length)} AS short
       FROM (VALUES ($1::jsonb)) AS event(properties) CROSS JOIN (VALUES ($2::jsonb)) AS meter(group_by)`,
      [JSON.stringify(properties), JSON.stringify(groupBy)],
    );
    expect(row?.short).toBe(row?.key);
    return row?.key ?? '';
  };

  const counted = async (
    aggregation: string,
    properties: object,
    filters: readonly object[] = [],
  ): Promise<Counted | undefined> => {
    const [row] = await engine.database.query<Counted>(
      countedOf(
        `(VALUES (1, 1, now(), $1::jsonb)) AS event(stream_id, position, occurred_at, properties)
         CROSS JOIN (VALUES ('mtr', $2, 'it', '[]'::jsonb, $3::jsonb)) AS meter(id, aggregation, value_property, group_by, filters)`,
      ),
      [JSON.stringify(properties), aggregation, JSON.stringify(filters)],
    );
    return row && { value: row.value, text: row.text };
  };

  const long = 'é'.repeat(100);
  const quotes = '"'.repeat(95);
  const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

  it.each([
    ['a text', 'eu-west', 'eu-west'],
    ['no text', '', ''],
    ['a text with all that JSON escapes', 'a "b" \\ / \b\f\n\r\t\u0001\u2028 é 👩', undefined],
    ['an integer', 7, '7'],
    ['a fraction', -0.5, '-0.5'],
    ['a large number', 1e21, '1000000000000000000000'],
    ['a number that is too long', 1e200, digest(`1${'0'.repeat(200)}`)],
    ['true', true, 'true'],
    ['false', false, 'false'],
    ['null', null, null],
    ['a list', ['eu-west'], null],
    ['an object', { eu: 'west' }, null],
    ['a text that just fits', 'x'.repeat(188), 'x'.repeat(188)],
    ['a text that is too long by one', 'x'.repeat(189), digest('x'.repeat(189))],
    ['a text that is the digest of a longer one', digest(long), digest(long)],
    ['a text that is too long in bytes', long, digest(long)],
    ['a text that is too long once it is JSON', quotes, digest(quotes)],
  ])('groups by %s', async (_, value, text) => {
    const expected = text === undefined ? value : text;
    expect(JSON.parse(await groupOf({ it: value }, ['it']))).toEqual([expected]);
    expect(await groupOf({ it: value }, ['it'])).toBe(JSON.stringify([expected]));
  });

  it('groups by nothing, and by up to five properties, some of which are missing', async () => {
    const properties = { a: 'A', b: 2, d: true, e: 'E' };
    expect(await groupOf(properties, [])).toBe('[]');
    expect(await groupOf(properties, ['b', 'a'])).toBe('["2","A"]');
    expect(await groupOf(properties, ['a', 'b', 'c', 'd', 'e'])).toBe('["A","2",null,"true","E"]');
    expect(await groupOf({}, ['a', 'b', 'c'])).toBe('[null,null,null]');
  });

  it.each([
    [12, '12'],
    [-0.25, '-0.25'],
    ['12.50', '12.50'],
    ['-0', '0'],
    ['1e3', null],
    ['+1', null],
    ['', null],
    [true, null],
    [null, null],
    [[1], null],
    [{ one: 1 }, null],
  ])('reads %j as the number %s', async (it, value) => {
    const expected = value === null ? undefined : { value, text: null };
    for (const aggregation of ['sum', 'max', 'latest', 'weighted_sum']) {
      expect(await counted(aggregation, { it })).toEqual(expected);
    }
    expect(await counted('count', { it })).toEqual({ value: null, text: null });
  });

  it.each([
    ['a', 'a'],
    ['', ''],
    [1.5, '1.5'],
    [false, 'false'],
    [null, null],
    [['a'], null],
    [{ a: 1 }, null],
  ])('reads %j as the distinct value %s', async (it, text) => {
    const expected = text === null ? undefined : { value: null, text };
    expect(await counted('unique', { it })).toEqual(expected);
  });

  it('counts only events that match all filters', async () => {
    const filters = [
      { property: 'it', in: ['1', 'true'] },
      { property: 'region', in: ['eu'] },
    ];
    const isCounted = async (properties: object): Promise<boolean> =>
      (await counted('count', properties, filters)) !== undefined;
    expect(await isCounted({ it: 1, region: 'eu' })).toBe(true);
    expect(await isCounted({ it: true, region: 'eu' })).toBe(true);
    expect(await isCounted({ it: 2, region: 'eu' })).toBe(false);
    expect(await isCounted({ it: 1, region: 'us' })).toBe(false);
    expect(await isCounted({ it: 1 })).toBe(false);
    expect(await isCounted({ it: [1], region: 'eu' })).toBe(false);
  });
});
