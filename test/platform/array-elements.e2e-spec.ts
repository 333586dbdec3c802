import {
  type ArrayElements,
  BigIntegers,
  Instants,
  Integers,
  Texts,
  Uuids,
} from '../../src/platform/database/array-elements';
import { startTestApp, type TestApp } from '../support/test-app';

describe('array parameters', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp();
  });

  afterAll(() => engine.close());

  /** Returns the array as the database reads it. */
  const read = async (type: string, elements: Buffer): Promise<string | undefined> => {
    const [row] = await engine.database.query<{ text: string }>(
      `SELECT to_json($1::${type}[])::text AS text`,
      [elements],
    );
    return row?.text;
  };

  const filled = <Value>(elements: ArrayElements<Value>, ...values: Value[]) =>
    elements.addAll(values);

  it.each([-2_147_483_648, 0, 2_147_483_647])('keep the integer %d', async (integer) => {
    expect(await read('int4', filled(new Integers(1), integer).toBuffer())).toBe(`[${integer}]`);
  });

  it.each(['-9223372036854775808', '0', '9223372036854775807'])(
    'keep the integer %s',
    async (integer) => {
      expect(await read('int8', filled(new BigIntegers(1), integer).toBuffer())).toBe(
        `[${integer}]`,
      );
    },
  );

  it('keep texts of any length and script', async () => {
    const texts = ['', 'a', 'NULL', '{"a",\\b}', 'Zoë', '本', '👩‍💻', 'x'.repeat(10_000), 'end'];
    expect(await read('text', filled(new Texts(1), ...texts).toBuffer())).toBe(
      JSON.stringify(texts),
    );
  });

  it('keep uuids', async () => {
    const [first, second] = ['00112233445566778899aabbccddeeff', 'f'.repeat(32)];
    const uuids = await read('uuid', filled(new Uuids(1), first, second).toBuffer());
    expect(uuids?.replaceAll('-', '')).toBe(JSON.stringify([first, second]));
  });

  it.each([
    '0001-01-01T00:00:00.000Z',
    '1582-10-15T00:00:00.001Z',
    '1969-12-31T23:59:59.999Z',
    '1999-12-31T23:59:59.999Z',
    '2000-01-01T00:00:00.000Z',
    '2026-03-29T01:30:00.123Z',
    '9999-12-31T23:59:59.999Z',
  ])('keep the instant %s', async (instant) => {
    const elements = filled(new Instants(1), new Date(instant)).toBuffer();
    const [row] = await engine.database.query(
      'SELECT ($1::timestamptz[])[1] = $2::timestamptz AS "isIt"',
      [elements, instant],
    );
    expect(row).toEqual({ isIt: true });
  });

  it('keep the order of more elements than expected', async () => {
    const integers = filled(new Integers(2), 1, 2, 3, 4, 5, 6);
    expect(await read('int4', integers.toBuffer())).toBe('[1,2,3,4,5,6]');
  });

  it('can be empty', async () => {
    expect(await read('text', new Texts(0).toBuffer())).toBe('[]');
  });
});
