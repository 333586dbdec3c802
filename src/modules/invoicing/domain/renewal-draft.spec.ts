import type { BillingContext } from './decide-invoice';
import { decideInSequence } from './decide-in-sequence';
import { decideInvoice } from './decide-invoice';
import type { WaitingDraft } from './grace';
import type { ChargeLineRequest, UsageLineRequest } from './line-item-request';
import { draftsWithCreditedCharges, requestOf, recalculateDraft } from './renewal-draft';

const MARCH = {
  startAt: new Date('2026-03-01T00:00:00Z'),
  endAt: new Date('2026-04-01T00:00:00Z'),
};
const APRIL = { startAt: MARCH.endAt, endAt: new Date('2026-05-01T00:00:00Z') };
const GRACE_OVER = new Date('2026-04-04T00:00:00Z');

const sold = { proration: null, prorationUnit: 'day', timeZone: 'UTC' } as const;
const limits = { minimumMinor: null, maximumMinor: null };
const base: ChargeLineRequest = {
  ...sold,
  kind: 'charge',
  isProration: false,
  itemId: 'si_base',
  price: {
    ...limits,
    priceId: 'price_1',
    name: 'Base',
    rating: { model: 'flat', amountMinor: 3_000n },
  },
  quantity: '1',
  period: APRIL,
  fullPeriod: APRIL,
  isInAdvance: true,
};
const calls: UsageLineRequest = {
  ...sold,
  kind: 'usage',
  itemId: 'si_calls',
  price: {
    ...limits,
    priceId: 'price_2',
    name: 'Calls',
    rating: { model: 'per_unit', unitAmount: '10' },
  },
  meterId: 'meter_1',
  isByGroup: true,
  period: MARCH,
  fullPeriod: MARCH,
  heldSince: MARCH.startAt,
};
const meter = {
  id: 'meter_1',
  key: 'calls',
  eventName: 'call',
  aggregation: 'count',
  valueProperty: null,
  filters: [],
  groupBy: ['region'],
};

/** Returns the context in which each region made the given number of calls and the given credit is left. */
function contextOf(used: Readonly<Record<string, bigint>>, creditMinor = 0n): BillingContext {
  const parts = Object.entries(used).map(([region, events]) => ({
    group: [region],
    quantity: { numerator: events, denominator: 1n },
    events,
    charged: null,
  }));
  const credit = { creditId: 'crd_1', createdAt: MARCH.startAt, currency: 'USD' };
  const reading = { meter, countedFrom: calls.period.startAt, upToPosition: 7n, parts };
  return {
    billed: [],
    creditable: new Map(),
    usage: [{ request: calls, reading, billed: null }],
    coupons: [],
    billingPeriod: APRIL,
    taxRates: [],
    taxTreatment: 'none',
    testClockId: null,
    creditGrants: creditMinor === 0n ? [] : [{ ...credit, remainingMinor: creditMinor }],
  };
}

let made = 0;
const nextLineId = (): string => `il_${(made += 1)}`;

function draftOf(context: BillingContext, id = 'inv_1'): WaitingDraft {
  const request = {
    reason: 'renewal',
    customerId: 'cus_1',
    subscriptionId: 'sub_1',
    renewsAt: MARCH.endAt,
    currency: 'USD',
    period: APRIL,
    billingPeriod: APRIL,
    lines: [calls, base],
    collection: 'automatic',
    daysUntilDue: 0,
    metadata: { a: 1 },
  } as const;
  const draft = decideInvoice(request, context, { invoiceId: id, nextLineId }, MARCH.endAt);
  return { ...draft, finalizesAt: GRACE_OVER, requestedLines: request.lines };
}

describe('a draft that waited', () => {
  it('has the usage of now, and keeps the ids of lines about the same', () => {
    const draft = draftOf(contextOf({ eu: 2n }));
    const after = recalculateDraft(
      draft,
      requestOf(draft),
      contextOf({ us: 1n, eu: 5n }),
      nextLineId,
      MARCH.endAt,
      GRACE_OVER,
    );
    expect(after).toMatchObject({
      id: draft.id,
      status: 'draft',
      total: 3_060n,
      periodStartAt: APRIL.startAt,
      metadata: { a: 1 },
      createdAt: MARCH.endAt,
      finalizesAt: null,
      requestedLines: null,
    });
    const [flat, eu] = draft.lines;
    expect(after.lines.map(({ amount }) => amount)).toEqual([3_000n, 10n, 50n]);
    expect(after.lines[1]?.id).not.toBe(eu?.id);
    expect([after.lines[0]?.id, after.lines[2]?.id]).toEqual([flat?.id, eu?.id]);
  });

  it.each([
    ['defers what is paid for a period that was not closed yet', APRIL.startAt, true],
    ['defers nothing for a period that was closed', APRIL.endAt, false],
  ] as const)('%s', (_, earnedUntil, isDeferred) => {
    const draft = draftOf(contextOf({}));
    const now = new Date('2026-06-01T00:00:00Z');
    const context = contextOf({});
    const { lines } = recalculateDraft(
      draft,
      requestOf(draft),
      context,
      nextLineId,
      earnedUntil,
      now,
    );
    expect(lines.map(({ isInAdvance }) => isInAdvance)).toEqual([isDeferred]);
    const earned = new Map([[draft.subscriptionId ?? '', earnedUntil]]);
    expect(draftsWithCreditedCharges([draft], earned, () => true)).toEqual(
      isDeferred ? [draft] : [],
    );
    expect(draftsWithCreditedCharges([draft], earned, () => false)).toEqual([]);
  });

  it('takes nothing of the credit that others of its customer find', () => {
    const requests = [
      { customerId: 'cus_1', waits: true },
      { customerId: 'cus_1', waits: false },
    ];
    const decided = decideInSequence(
      requests,
      () => contextOf({}, 4_000n),
      ({ waits }, context) =>
        waits ? draftOf(context) : { ...draftOf(context), finalizesAt: null },
      () => 'crd_2',
      () => 0n,
      MARCH.endAt,
    );
    expect(decided.map(({ invoice }) => invoice.creditApplied)).toEqual([3_000n, 3_000n]);
  });
});
