import fc from 'fast-check';
import { rational, roundToInteger } from '../decimal';
import { partWithin, creditShare, taxOfPart, type HeldLines } from './index';

const held = (change: Partial<HeldLines> = {}): HeldLines => ({
  heldMinor: 3_100n,
  taxes: [],
  hasOneSetOfRates: true,
  discounts: [],
  ...change,
});
const vat = (leftMinor: bigint, inclusive = false, percentage = '19') => ({
  taxRateId: `txr_${percentage}`,
  percentage,
  inclusive,
  leftMinor,
});
const taxOf = (lines: HeldLines, amountMinor: bigint): bigint[] =>
  [...taxOfPart(lines, amountMinor).values()].map(roundToInteger);

describe('a credit takes back a share of what lines hold', () => {
  test.each<[string, HeldLines, [bigint, bigint], bigint, bigint[]]>([
    ['of what was paid', held({ heldMinor: 500n }), [15n, 31n], 242n, []],
    [
      'and of the discount, which returns to its coupon',
      held({ heldMinor: 1_500n, discounts: [{ redemptionId: 'red_1', amountMinor: 500n }] }),
      [15n, 31n],
      726n,
      [242n],
    ],
    [
      'split over coupons by largest remainder',
      held({
        discounts: [
          { redemptionId: 'red_1', amountMinor: 5n },
          { redemptionId: 'red_2', amountMinor: 5n },
        ],
      }),
      [1n, 2n],
      1_550n,
      [3n, 2n],
    ],
    ['nothing of lines that hold nothing', held({ heldMinor: 0n }), [1n, 1n], 0n, []],
    ['nothing of lines that gave back more', held({ heldMinor: -10n }), [1n, 1n], 0n, []],
  ])('%s', (_, lines, [part, whole], amountMinor, returned) => {
    const credit = creditShare(lines, rational(part, whole));
    expect(credit.amountMinor).toBe(amountMinor);
    expect(credit.discounts.map((one) => one.amountMinor)).toEqual(returned);
  });
});

describe('the tax of a part that is credited', () => {
  test.each<[string, HeldLines, bigint, bigint[]]>([
    ['by the rate that billed it', held({ taxes: [vat(589n)] }), 1_500n, [285n]],
    ['of the last part is all that is left', held({ taxes: [vat(588n)] }), 3_100n, [588n]],
    ['is no more than what is left', held({ taxes: [vat(200n)] }), 1_500n, [200n]],
    ['within the amount', held({ taxes: [vat(495n, true)] }), 1_500n, [239n]],
    [
      'of lines with different rates is in proportion',
      held({ taxes: [vat(300n), vat(100n, false, '7')], hasOneSetOfRates: false }),
      1_550n,
      [150n, 50n],
    ],
    ['of nothing is nothing', held({ heldMinor: 0n, taxes: [vat(5n)] }), 0n, [0n]],
  ])('%s', (_, lines, amountMinor, expected) => {
    expect(taxOf(lines, amountMinor)).toEqual(expected);
  });

  test('never exceeds what was billed, in any sequence of credits', () => {
    const shares = fc.array(fc.tuple(fc.bigInt(0n, 9n), fc.bigInt(1n, 9n)), { maxLength: 8 });
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 9n), fc.bigInt(0n, 10n ** 8n), shares, (net, tax, parts) => {
        let heldMinor = net;
        let leftMinor = tax;
        for (const [part, more] of parts) {
          const lines = held({ heldMinor, taxes: [vat(leftMinor)] });
          const { amountMinor } = creditShare(lines, rational(part, part + more));
          heldMinor -= amountMinor;
          leftMinor -= taxOf(lines, amountMinor)[0] ?? 0n;
        }
        expect(heldMinor >= 0n && leftMinor >= 0n).toBe(true);
        const rest = held({ heldMinor, taxes: [vat(leftMinor)] });
        expect(creditShare(rest, rational(1n)).amountMinor).toBe(heldMinor);
        if (heldMinor > 0n) expect(taxOf(rest, heldMinor)).toEqual([leftMinor]);
      }),
    );
  });
});

describe('the part of what lines hold that a limit leaves', () => {
  test.each<[string, HeldLines, bigint, bigint]>([
    ['is the limit without tax', held(), 1_100n, 1_100n],
    ['is the limit with tax within', held({ taxes: [vat(495n, true)] }), 1_100n, 1_100n],
    ['leaves room for tax on top', held({ taxes: [vat(589n)] }), 1_190n, 1_000n],
    ['leaves room for tax that is rounded up', held({ taxes: [vat(589n)] }), 100n, 84n],
    ['leaves room for each rate', held({ taxes: [vat(589n), vat(217n, false, '7')] }), 100n, 78n],
    ['is all of it where that fits', held({ taxes: [vat(589n)] }), 3_689n, 3_100n],
    ['is nothing where nothing is left', held({ taxes: [vat(589n)] }), 0n, 0n],
  ])('%s', (_, lines, limitMinor, expected) => {
    expect(partWithin(lines, lines.heldMinor, limitMinor)).toBe(expected);
  });

  test('lowers what returns to coupons with it', () => {
    const lines = held({ discounts: [{ redemptionId: 'red_1', amountMinor: 3_100n }] });
    expect(creditShare(lines, rational(1n, 2n), 775n)).toEqual({
      amountMinor: 775n,
      discounts: [{ redemptionId: 'red_1', amountMinor: 775n }],
    });
  });
});
