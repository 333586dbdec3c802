import fc from 'fast-check';
import { rational } from '../decimal';
import { InvariantError } from '../invariant';
import { prorate, unusedPart, type Proration } from '../proration';
import { roundAtLine } from '../rating';
import { creditForUnused, forFullPeriod, type PrepaidLine } from './index';

const days = (numerator: bigint, denominator: bigint): Proration => ({
  numerator,
  denominator,
  unit: 'day',
});
const billed = (amountMinor: bigint, change: Partial<PrepaidLine> = {}): PrepaidLine => ({
  fullAmount: forFullPeriod(amountMinor, change.proration ?? null),
  proration: null,
  amountMinor,
  discountMinor: 0n,
  creditedMinor: 0n,
  ...change,
});

describe('the unused share of what a line holds is credited', () => {
  test.each<[string, PrepaidLine, Proration, bigint]>([
    ['18 of 29 days of 29.00', billed(2900n), days(18n, 29n), 1800n],
    ['rounded once', billed(1000n), days(17n, 31n), 548n],
    ['the line, rounded up from 333.5', billed(334n), days(15n, 31n), 162n],
    ['the line, rounded down from 1.49', billed(1n), days(14n, 31n), 0n],
    ['the line, rounded down from 1.49', billed(1n), days(16n, 31n), 1n],
    ['nothing unused', billed(1000n), days(0n, 31n), 0n],
    ['all unused', billed(1000n), days(31n, 31n), 1000n],
    ['a line that billed a part', billed(710n, { proration: days(22n, 31n) }), days(8n, 31n), 258n],
    ['all of that part', billed(710n, { proration: days(22n, 31n) }), days(22n, 31n), 710n],
    ['nothing of a part of no day', billed(100n, { proration: days(0n, 28n) }), days(0n, 28n), 0n],
    ['half of a part of 100', billed(71n, { proration: days(22n, 31n) }), days(11n, 31n), 36n],
    [
      'by a stored price, where an older credit went by one',
      billed(1n, { fullAmount: rational(14n, 10n) }),
      days(15n, 30n),
      1n,
    ],
    [
      'its share of what the discount left',
      billed(1000n, { discountMinor: 700n }),
      days(17n, 31n),
      165n,
    ],
    [
      'its share of what an earlier credit left',
      billed(1000n, { creditedMinor: 900n }),
      days(17n, 31n),
      55n,
    ],
    [
      'nothing of a line discounted to zero',
      billed(1000n, { discountMinor: 1000n }),
      days(17n, 31n),
      0n,
    ],
  ])('%s', (_, line, unused, expected) => {
    expect(creditForUnused(line, unused)).toBe(expected);
  });

  test('a subscription that ends at once has used the day', () => {
    const leapFebruary = { startAt: new Date('2024-02-01Z'), endAt: new Date('2024-03-01Z') };
    const used = prorate(
      'day',
      {
        startAt: leapFebruary.startAt,
        endAt: new Date('2024-02-01T10:00:00Z'),
        end: 'termination',
      },
      leapFebruary,
      'UTC',
    );
    expect(creditForUnused(billed(2900n), unusedPart(used, days(29n, 29n)))).toBe(2800n);
  });

  test.each<[string, PrepaidLine, Proration]>([
    ['more unused than billed', billed(710n, { proration: days(22n, 31n) }), days(23n, 31n)],
    ['another period', billed(710n, { proration: days(22n, 31n) }), days(8n, 30n)],
    [
      'a line credited beyond its billed amount',
      billed(710n, { creditedMinor: 711n }),
      days(8n, 31n),
    ],
  ])('refused: %s', (_, line, unused) => {
    expect(() => creditForUnused(line, unused)).toThrow(InvariantError);
  });

  const seconds = (count: bigint) =>
    ({ numerator: count, denominator: 31n * 86_400n, unit: 'second' }) as const;

  test.each<[string, Proration, Proration, bigint]>([
    ['days of a line in seconds', seconds(22n * 86_400n), days(11n, 31n), 355n],
    ['seconds of a line in days', days(22n, 31n), seconds(11n * 86_400n), 355n],
    ['no more days than the seconds billed', seconds(20n * 86_400n + 1n), days(21n, 31n), 710n],
  ])('%s, after a change to a version with another unit', (_, proration, unused, expected) => {
    expect(creditForUnused(billed(710n, { proration }), unused)).toBe(expected);
  });

  test('partial credits never take more than the line held', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        fc.nat(100),
        fc.array(fc.integer({ min: 0, max: 31 }), { maxLength: 6 }),
        (amountMinor, percent, parts) => {
          const discountMinor = (amountMinor * BigInt(percent)) / 100n;
          let creditedMinor = 0n;
          for (const part of parts) {
            const line = billed(amountMinor, { discountMinor, creditedMinor });
            creditedMinor += creditForUnused(line, days(BigInt(part), 31n));
          }
          expect(discountMinor + creditedMinor <= amountMinor).toBe(true);
        },
      ),
    );
  });
});

describe('a change now, paid in advance, is a credit and a charge over the same part', () => {
  const march = { startAt: new Date('2026-03-01Z'), endAt: new Date('2026-04-01Z') };
  const changeLine = (
    unit: 'day' | 'second',
    at: string,
    oldLine: PrepaidLine,
    newMinor: bigint,
  ): readonly bigint[] => {
    const rest = { startAt: new Date(at), endAt: march.endAt, end: 'border' as const };
    const proration = prorate(unit, rest, march, 'UTC');
    return [-creditForUnused(oldLine, proration), roundAtLine(rational(newMinor), proration)];
  };
  const change = (unit: 'day' | 'second', at: string, oldMinor: bigint, newMinor: bigint) =>
    changeLine(unit, at, billed(oldMinor), newMinor);

  test.each<['day' | 'second', string, bigint, bigint, bigint[]]>([
    ['day', '2026-03-15T18:00:00Z', 1000n, 2000n, [-548n, 1097n]],
    ['day', '2026-03-01T00:00:00Z', 1000n, 2000n, [-1000n, 2000n]],
    ['day', '2026-03-31T23:59:59Z', 1000n, 2000n, [-32n, 65n]],
    ['second', '2026-03-16T12:00:00Z', 1000n, 2000n, [-500n, 1000n]],
    ['second', '2026-03-31T23:59:59Z', 1000n, 2000n, [0n, 0n]],
    ['day', '2026-03-15T18:00:00Z', 2000n, 0n, [-1097n, 0n]],
  ])('by %s at %s from %d to %d', (unit, at, oldMinor, newMinor, expected) => {
    expect(change(unit, at, oldMinor, newMinor)).toEqual(expected);
  });

  test('twice on one day, the day belongs to the last price', () => {
    const rest = days(17n, 31n);
    const line = billed(1097n, { proration: rest });
    expect(changeLine('day', '2026-03-15T18:00:00Z', line, 3000n)).toEqual([-1097n, 1645n]);
  });

  test.each(['2026-02-28T23:59:59Z', '2026-04-01T00:00:01Z'])('refused at %s', (at) => {
    expect(() => change('day', at, 1000n, 2000n)).toThrow(InvariantError);
  });
});
