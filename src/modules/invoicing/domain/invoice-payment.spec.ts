import { InvariantError } from '../../../core/invariant';
import type { Invoice } from './invoice';
import {
  decidePayment,
  payableOf,
  withoutReserve,
  withPayment,
  withReserve,
} from './invoice-payment';

const NOW = new Date('2026-03-01T00:00:00.000Z');

const open = {
  id: 'inv_01h455vb4pex5vsknk084sn02q',
  version: 3,
  status: 'open',
  amountDue: 1_000n,
  amountPaid: 0n,
  amountCredited: 0n,
  amountPending: 0n,
  paidAt: null,
} as Invoice;

describe('an invoice can be paid', () => {
  it.each<[string, Partial<Invoice>, bigint | null, object]>([
    ['wholly', {}, null, { kind: 'reserve', amount: 1_000n }],
    ['in part', {}, 1n, { kind: 'reserve', amount: 1n }],
    ['for what is left', { amountPaid: 300n }, null, { kind: 'reserve', amount: 700n }],
    ['for what credit notes left', { amountCredited: 999n }, null, { kind: 'reserve', amount: 1n }],
    ['beside another payment', { amountPending: 400n }, null, { kind: 'reserve', amount: 600n }],
    ['when it was written off', { status: 'uncollectible' }, 5n, { kind: 'reserve', amount: 5n }],
    ['not for more', {}, 1_001n, { kind: 'exceeds', payable: 1_000n }],
    [
      'not for more than is free',
      { amountPending: 1n },
      1_000n,
      { kind: 'exceeds', payable: 999n },
    ],
    ['not for nothing', {}, 0n, { kind: 'exceeds', payable: 1_000n }],
    ['not twice at once', { amountPending: 1_000n }, null, { kind: 'under_way' }],
    [
      'not while more is reserved than a credit note left',
      { amountPending: 600n, amountCredited: 500n },
      1n,
      { kind: 'under_way' },
    ],
    ['not as a draft', { status: 'draft' }, null, { kind: 'not_payable' }],
    ['not when it is void', { status: 'void' }, 1n, { kind: 'not_payable' }],
    ['not when it is paid', { status: 'paid', amountPaid: 1_000n }, 1n, { kind: 'not_payable' }],
  ])('%s', (_, change, requested, decision) => {
    expect(decidePayment({ ...open, ...change }, requested)).toEqual(decision);
  });

  it('for nothing while it is not payable', () => {
    expect(payableOf({ ...open, status: 'void' })).toBe(0n);
  });
});

describe('money that comes for an invoice', () => {
  const reserved = withReserve(open, 600n, NOW);

  it('pays what was reserved', () => {
    expect(reserved).toMatchObject({ amountPending: 600n, version: 4 });
    expect(withPayment(reserved, 600n, 600n, NOW)).toMatchObject({
      appliedMinor: 600n,
      invoice: { status: 'open', amountPaid: 600n, amountPending: 0n, version: 5, paidAt: null },
    });
  });

  it('pays it wholly when nothing is left', () => {
    const all = withReserve(open, 1_000n, NOW);
    expect(withPayment(all, 1_000n, 1_000n, NOW)).toMatchObject({
      appliedMinor: 1_000n,
      invoice: { status: 'paid', amountPaid: 1_000n, paidAt: NOW },
    });
  });

  it.each<[string, Partial<Invoice>, bigint, object]>([
    ['voided', { status: 'void' }, 0n, { status: 'void', amountPaid: 0n }],
    ['credited in part', { amountCredited: 700n }, 300n, { status: 'paid', amountPaid: 300n }],
    ['credited wholly', { amountCredited: 1_000n, status: 'paid' }, 0n, { amountPaid: 0n }],
    ['written off', { status: 'uncollectible' }, 600n, { status: 'uncollectible' }],
  ])('pays what an invoice that was %s meanwhile still needs', (_, change, applied, after) => {
    const { invoice, appliedMinor } = withPayment({ ...reserved, ...change }, 600n, 600n, NOW);
    expect(appliedMinor).toBe(applied);
    expect(invoice).toMatchObject({ ...after, amountPending: 0n });
  });

  it('that does not come frees what was reserved, and no more', () => {
    expect(withoutReserve(reserved, 600n, NOW)).toMatchObject({
      amountPending: 0n,
      amountPaid: 0n,
    });
    expect(() => withoutReserve(reserved, 601n, NOW)).toThrow(InvariantError);
  });
});
