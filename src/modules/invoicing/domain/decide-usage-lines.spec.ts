import fc from 'fast-check';
import { parseDecimal, rational } from '../../../core/decimal';
import { chargeEvents, type PercentagePrice, type Price } from '../../../core/rating';
import { decideInvoice, evaluateInvoice, type BillingContext } from './decide-invoice';
import { decideLines } from './decide-lines';
import type { EarlierBill, CountedUsage } from './decide-usage-lines';
import { explain } from './explain';
import type { Invoice } from './invoice';
import { fromJson, toJson } from '../../../core/exact-json';
import type { BilledPrice, UsageLineRequest } from './line-item-request';
import type { UsagePart } from './usage';
import { usageToRebill } from './usage-to-rebill';
import { billOf } from './usage-bill';

const JANUARY = {
  startAt: new Date('2026-01-01T00:00:00Z'),
  endAt: new Date('2026-02-01T00:00:00Z'),
};
const NOW = new Date('2026-02-01T00:00:00Z');

const graduated: Price = {
  model: 'graduated',
  chargeFlatAtZero: true,
  tiers: [
    { upTo: '100', unitAmount: '10', flatAmountMinor: 500n },
    { upTo: null, unitAmount: '5', flatAmountMinor: 0n },
  ],
};
const volume: Price = { ...graduated, model: 'volume' };
const perUnit: Price = { model: 'per_unit', unitAmount: '0.5' };
const METER = {
  id: 'meter_1',
  key: 'calls',
  eventName: 'call',
  aggregation: 'sum',
  valueProperty: 'n',
  filters: [],
  groupBy: ['region'],
};

function requestOf(
  rating: Price,
  limits: Partial<BilledPrice> = {},
  isByGroup = false,
): UsageLineRequest {
  const price = { priceId: 'price_1', name: 'Calls', minimumMinor: null, maximumMinor: null };
  return {
    kind: 'usage',
    itemId: 'si_1',
    price: { ...price, rating, ...limits },
    meterId: METER.id,
    isByGroup,
    period: JANUARY,
    fullPeriod: JANUARY,
    heldSince: JANUARY.startAt,
    proration: null,
    prorationUnit: 'day',
    timeZone: 'UTC',
  };
}

const all = (quantity: string): UsagePart => ({
  group: null,
  quantity: parseDecimal(quantity),
  events: 1n,
  charged: null,
});
const of = (region: string | null, quantity: string): UsagePart => ({
  ...all(quantity),
  group: [region],
});

function invoiceOf(
  request: UsageLineRequest,
  parts: readonly UsagePart[],
  billed: EarlierBill | null = null,
  context: Partial<BillingContext> = {},
): Invoice {
  const counted: CountedUsage = {
    request,
    reading: { meter: METER, countedFrom: request.period.startAt, upToPosition: 7n, parts },
    billed,
  };
  let made = 0;
  return decideInvoice(
    {
      reason: 'renewal',
      customerId: 'cus_1',
      subscriptionId: 'sub_1',
      renewsAt: NOW,
      currency: 'USD',
      period: JANUARY,
      billingPeriod: JANUARY,
      lines: billed === null ? [request] : [],
      collection: 'automatic',
      daysUntilDue: 0,
      metadata: {},
    },
    {
      testClockId: null,
      billed: [],
      creditable: new Map(),
      coupons: [],
      billingPeriod: JANUARY,
      taxRates: [],
      taxTreatment: 'none',
      creditGrants: [],
      ...context,
      usage: [counted],
    },
    { invoiceId: 'inv_1', nextLineId: () => `il_${(made += 1)}` },
    NOW,
  );
}

const shown = ({ lines }: Invoice) =>
  lines.map(({ kind, description, quantity, amount }) => [kind, description, quantity, amount]);

/** Converts an invoice to its stored JSON and back. */
const stored = (invoice: Invoice) =>
  fromJson(JSON.parse(JSON.stringify(toJson(invoice)))) as Invoice;

describe('usage on an invoice', () => {
  it('is a line, and its trace gives its amount again', () => {
    const invoice = stored(invoiceOf(requestOf(graduated), [all('130.5')]));
    expect(shown(invoice)).toEqual([['usage', 'Calls', '130.5', 1_653n]]);
    const [line] = invoice.lines;
    expect(line?.trace).toMatchObject({ kind: 'usage', meter: METER, upToPosition: 7n });
    expect(explain(invoice).matches).toBe(true);
  });

  it.each([
    ['0.0000000000004', 4n],
    ['-99999999999999999999.999999999999999999', 0n],
  ])('of %s shows every digit that a meter accepts', (quantity, amount) => {
    const price: Price = { model: 'per_unit', unitAmount: '10000000000000' };
    expect(shown(invoiceOf(requestOf(price), [all(quantity)]))).toEqual([
      ['usage', 'Calls', quantity, amount],
    ]);
  });

  it('names the line of each group in the record of what was billed, however many there are', () => {
    const parts = Array.from({ length: 20_000 }, (_, index) => of(`region-${index}`, '2'));
    const request = requestOf(perUnit, {}, true);
    const { lines } = invoiceOf(request, parts);
    const reading = { meter: METER, countedFrom: JANUARY.startAt, upToPosition: 7n, parts };
    const { groups } = billOf({ request, reading, billed: null }, lines);
    expect(groups.map(({ lineId }) => lineId)).toEqual(lines.map(({ id }) => id));
    expect(groups).toHaveLength(parts.length);
  });

  it('is a line for each group, also of more groups than a call takes arguments', () => {
    const parts = Array.from({ length: 130_000 }, (_, index) => of(`region-${index}`, '2'));
    const request = requestOf(perUnit, {}, true);
    const reading = { meter: METER, countedFrom: JANUARY.startAt, upToPosition: 7n, parts };
    const context = {
      billed: [],
      creditable: new Map(),
      usage: [{ request, reading, billed: null }],
    };
    const { lines } = decideLines([request], context, () => 'il_1');
    expect(lines).toHaveLength(parts.length);
  });

  it('is a line for each group where the price says so', () => {
    const parts = [of('eu', '200'), of(null, '50')];
    expect(shown(invoiceOf(requestOf(graduated, {}, true), parts))).toEqual([
      ['usage', 'Calls (eu)', '200', 2_000n],
      ['usage', 'Calls (–)', '50', 1_000n],
    ]);
    expect(shown(invoiceOf(requestOf(graduated), [all('250')]))).toEqual([
      ['usage', 'Calls', '250', 2_250n],
    ]);
  });

  it.each([
    ['its first flat amount is due', graduated, [['usage', 'Calls', '0', 500n]]],
    ['nothing is due', { ...graduated, chargeFlatAtZero: false }, []],
    ['nothing is due per unit', perUnit, []],
  ] as const)('of zero: %s', (_, price, expected) => {
    expect(shown(invoiceOf(requestOf(price), [all('0')]))).toEqual(expected);
  });

  it('that is free is a line of nothing', () => {
    const free: Price = { model: 'package', unitAmount: '900', packageSize: '10', freeUnits: '10' };
    expect(shown(invoiceOf(requestOf(free), [all('10')]))).toEqual([['usage', 'Calls', '10', 0n]]);
  });

  it.each([
    ['0', [['minimum', 'Calls (minimum)', null, 1_000n]]],
    [
      '10',
      [
        ['usage', 'Calls', '10', 5n],
        ['minimum', 'Calls (minimum)', null, 995n],
      ],
    ],
    [
      '9000',
      [
        ['usage', 'Calls', '9000', 4_500n],
        ['maximum', 'Calls (maximum)', null, -500n],
      ],
    ],
  ] as const)('of %s has a minimum and a maximum for the period', (quantity, expected) => {
    const invoice = invoiceOf(requestOf(perUnit, { minimumMinor: 1_000n, maximumMinor: 4_000n }), [
      all(quantity),
    ]);
    expect(shown(invoice)).toEqual(expected);
    expect(evaluateInvoice(stored(invoice)).subtotalMinor).toBe(invoice.subtotal);
  });

  it('of a part of the period weighs its limits, and not what was used', () => {
    const half = { numerator: 1n, denominator: 2n, unit: 'day' } as const;
    const request = { ...requestOf(perUnit, { minimumMinor: 1_000n }), proration: half };
    const invoice = invoiceOf(request, [all('100')]);
    expect(invoice.lines.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['usage', 50n],
      ['minimum', 450n],
    ]);
    expect(invoice.lines[0]?.proration).toBeNull();
  });

  it('of a percentage keeps what its events come to', () => {
    const price: PercentagePrice = {
      model: 'percentage',
      rate: '0.029',
      fixedAmountMinor: 30n,
      freeEvents: 1n,
      freeAmountMinor: 0n,
      eventMinimumMinor: null,
      eventMaximumMinor: 100n,
    };
    const charger = chargeEvents(price);
    for (const base of [1_000n, 2_000n, 5_000n]) charger.add(rational(base));
    const part = { ...all('8000'), events: 3n, charged: charger.charged() };
    const invoice = stored(invoiceOf(requestOf(price), [part]));
    expect(shown(invoice)).toEqual([['usage', 'Calls', '8000', 188n]]);
    expect(explain(invoice).matches).toBe(true);
  });
});

describe('late usage', () => {
  const billedOf = (amount: bigint, quantity: string, heldMinor = amount): EarlierBill => ({
    amountMinor: amount,
    heldMinor,
    quantity,
    lines: invoiceOf(requestOf(perUnit), [all('1')]).lines.map((line) => ({
      ...line,
      amount,
      discount: amount - heldMinor,
      net: heldMinor,
      taxRates: [],
      billedFrom: JANUARY.startAt,
    })),
  });

  it('is billed by the difference, and names the period it corrects', () => {
    const invoice = stored(invoiceOf(requestOf(volume), [all('150')], billedOf(1_500n, '100')));
    expect(shown(invoice)).toEqual([['usage', 'Calls (late usage)', '50', -750n]]);
    const [line] = invoice.lines;
    expect(line?.period).toEqual(JANUARY);
    expect(explain(invoice).matches).toBe(true);
  });

  it('without a difference is no line', () => {
    expect(shown(invoiceOf(requestOf(graduated), [all('10')], billedOf(600n, '10')))).toEqual([]);
  });

  it('never gives back more than the lines of the period hold', () => {
    const held = billedOf(600n, '10', 240n);
    const invoice = invoiceOf(requestOf(perUnit), [all('0')], held);
    expect(shown(invoice)).toEqual([['usage', 'Calls (late usage)', '-10', -240n]]);
  });

  it('gives back its share of what was paid', () => {
    const held = billedOf(1_000n, '2000', 500n);
    const invoice = stored(invoiceOf(requestOf(perUnit), [all('1000')], held));
    expect(shown(invoice)).toEqual([['usage', 'Calls (late usage)', '-1000', -250n]]);
    expect(explain(invoice).matches).toBe(true);
  });

  it('stays within the limits of the price', () => {
    const request = requestOf(perUnit, { minimumMinor: 1_000n, maximumMinor: 4_000n });
    expect(shown(invoiceOf(request, [all('500')], billedOf(1_000n, '10')))).toEqual([]);
    expect(shown(invoiceOf(request, [all('4000')], billedOf(1_000n, '10')))).toMatchObject([
      ['usage', 'Calls (late usage)', '3990', 1_000n],
    ]);
    expect(shown(invoiceOf(request, [all('90000')], billedOf(1_000n, '10')))).toMatchObject([
      ['usage', 'Calls (late usage)', '89990', 3_000n],
    ]);
  });

  it('that comes again and again adds up to what all of it costs', () => {
    const quantities = fc.array(fc.nat(400), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.constantFrom(graduated, volume, perUnit), quantities, (price, steps) => {
        const request = requestOf(price, { maximumMinor: 1_900n });
        let billedMinor = 0n;
        let before = '0';
        steps.forEach((quantity, index) => {
          const billed = index === 0 ? null : billedOf(billedMinor, before);
          billedMinor += invoiceOf(request, [all(String(quantity))], billed).subtotal;
          before = String(quantity);
        });
        expect(billedMinor).toBe(invoiceOf(request, [all(before)]).subtotal);
      }),
    );
  });
});

describe('usage of a void invoice', () => {
  const request = requestOf(perUnit);
  const billedByOthers = (amountMinor: bigint, quantity: string): EarlierBill => ({
    amountMinor,
    heldMinor: amountMinor,
    quantity,
    lines:
      amountMinor === 0n
        ? []
        : invoiceOf(request, [all(quantity)]).lines.map((line) => {
            return { ...line, taxRates: [], billedFrom: null };
          }),
  });

  it.each([
    ['the same lines, if nothing changed', '100', billedByOthers(0n, '0'), [0, 0, 1]],
    [
      'the same lines, if others billed what came since',
      '160',
      billedByOthers(30n, '60'),
      [0, 0, 1],
    ],
    ['all that is counted, if no other billed any', '60', billedByOthers(0n, '0'), [1, 0, 0]],
    ['nothing but a difference, if others billed it', '160', billedByOthers(80n, '160'), [0, 1, 0]],
    ['the difference to what others billed', '130', billedByOthers(30n, '60'), [0, 1, 0]],
  ])('is billed again by %s', (_, counted, billed, numbers) => {
    const { lines } = invoiceOf(request, [all('100')]);
    const reading = {
      meter: METER,
      countedFrom: JANUARY.startAt,
      upToPosition: 8n,
      parts: [all(counted)],
    };
    const { first, late, unchanged } = usageToRebill({ lines }, [{ request, reading, billed }]);
    expect([first, late, unchanged].map(({ length }) => length)).toEqual(numbers);
  });

  it.each([
    [
      [of('eu', '200'), of('us', '50')],
      ['il_1', 'il_2'],
    ],
    [
      [of('eu', '200'), of('asia', '50')],
      [null, null],
    ],
    [[of('asia', '250')], [null]],
    [
      [of('eu', '200'), of('us', '50'), of('asia', '50')],
      [null, null, null],
    ],
  ])(
    'is recorded with the lines that are billed again, unless they have other usage',
    (parts, ids) => {
      const byGroup = requestOf(perUnit, { minimumMinor: 1_000_000n }, true);
      const { lines } = invoiceOf(byGroup, [of('eu', '200'), of('us', '50')]);
      const reading = { meter: METER, countedFrom: JANUARY.startAt, upToPosition: 8n, parts };
      const billed = billedByOthers(0n, '0');
      const { unchanged } = usageToRebill({ lines }, [{ request: byGroup, reading, billed }]);
      const records = unchanged.flatMap((counted) => billOf(counted, lines).groups);
      expect(records.map(({ lineId }) => lineId)).toEqual(ids);
    },
  );
});
