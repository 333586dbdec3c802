import { InvariantError } from '../../../core/invariant';
import { reachableFrom } from '../../../../test/support/reachable';
import {
  correctedToSucceeded,
  isSameNote,
  isSameRequest,
  type Refund,
  REFUND_STATUSES,
  REFUND_TRANSITIONS,
  type RefundRequest,
  withAbsence,
  withOutcome,
  exceededLimit,
} from './refund';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const LATER = new Date('2026-03-01T00:01:00.000Z');

const pending: Refund = {
  id: 'ref_01h455vb4pex5vsknk084sn02q',
  version: 1,
  paymentId: 'pay_01h455vb4pex5vsknk084sn02q',
  customerId: 'cus_01h455vb4pex5vsknk084sn02q',
  amount: 1_000n,
  currency: 'USD',
  status: 'pending',
  reason: 'damaged',
  source: 'api',
  creditNoteId: null,
  actor: 'open',
  idempotencyKey: 'k',
  failureCode: null,
  providerReference: null,
  providerAttempt: 1,
  sentAt: null,
  absentSince: null,
  metadata: { ticket: 7, of: { a: 1, b: 2 } },
  dueAt: NOW,
  leasedBy: 7,
  attempts: 0,
  interruptions: 0,
  createdAt: NOW,
  updatedAt: NOW,
};

describe('a refund', () => {
  it('can reach every state from pending', () => {
    expect([...reachableFrom(REFUND_TRANSITIONS, 'pending')].sort()).toEqual(
      [...REFUND_STATUSES].sort(),
    );
  });

  it('succeeds, fails or stays open', () => {
    expect(withOutcome(pending, { kind: 'succeeded' }, LATER)).toEqual({
      ...pending,
      version: 2,
      status: 'succeeded',
      dueAt: null,
      leasedBy: null,
      updatedAt: LATER,
    });
    expect(withOutcome(pending, { kind: 'failed', failureCode: 'refund_declined' }, LATER)).toEqual(
      {
        ...pending,
        version: 2,
        status: 'failed',
        failureCode: 'refund_declined',
        dueAt: null,
        leasedBy: null,
        updatedAt: LATER,
      },
    );
    const plan = { dueAt: LATER, leasedBy: null, attempts: 1 };
    expect(withOutcome(pending, { kind: 'open', plan }, NOW)).toEqual({ ...pending, ...plan });
    expect(withOutcome(pending, { kind: 'open', plan: null }, NOW)).toBe(pending);
  });

  it.each(['failed', 'canceled'] as const)('that %s stays so', (status) => {
    const final: Refund = { ...pending, status, dueAt: null };
    expect(withOutcome(final, { kind: 'succeeded' }, LATER)).toBe(final);
    expect(withOutcome(final, { kind: 'failed', failureCode: 'x' }, LATER)).toBe(final);
  });

  it('that succeeded stays so, unless a bank returns it', () => {
    const final: Refund = { ...pending, status: 'succeeded', dueAt: null, leasedBy: null };
    const plan = { dueAt: LATER, leasedBy: null, attempts: 1 };
    expect(withOutcome(final, { kind: 'succeeded' }, LATER)).toBe(final);
    expect(withOutcome(final, { kind: 'open', plan }, LATER)).toBe(final);
    expect(withOutcome(final, { kind: 'failed', failureCode: 'returned' }, LATER)).toEqual({
      ...final,
      version: 2,
      status: 'failed',
      failureCode: 'returned',
      updatedAt: LATER,
    });
  });

  it.each(['failed', 'canceled'] as const)('that %s can be corrected to succeeded', (status) => {
    const final: Refund = { ...pending, status, failureCode: 'x', dueAt: null, leasedBy: null };
    expect(correctedToSucceeded(final, 're_1', LATER)).toMatchObject({
      version: 2,
      status: 'succeeded',
      failureCode: null,
      providerReference: 're_1',
    });
    expect(() => correctedToSucceeded(pending, 're_1', LATER)).toThrow(InvariantError);
  });

  const request: RefundRequest = {
    paymentId: pending.paymentId,
    amount: 1_000n,
    creditNote: null,
    reason: 'damaged',
    idempotencyKey: 'k',
    metadata: pending.metadata,
  };

  it.each([
    ['the same', {}, true],
    ['no amount, for all that remained', { amount: null }, true],
    ['its metadata in another order', { metadata: { of: { b: 2, a: 1 }, ticket: 7 } }, true],
    ['other metadata', { metadata: { ticket: 8, of: { a: 1, b: 2 } } }, false],
    ['no metadata', { metadata: {} }, false],
    ['another amount', { amount: 999n }, false],
    ['another reason', { reason: null }, false],
    ['another payment', { paymentId: 'pay_01h455vb4pex5vsknk084sn02r' }, false],
  ] as const)('is asked for again by a request with %s: %#', (_, change, same) => {
    expect(isSameRequest(pending, { ...request, ...change })).toBe(same);
  });
});

describe('the credit note of a refund', () => {
  const line = (lineId: string, netMinor: bigint) => ({ lineId, netMinor });
  const note = { reason: 'Outage', lines: [line('il_1', 500n), line('il_2', 20n)] };

  it.each([
    ['the same', note, true],
    ['its lines in another order', { ...note, lines: [...note.lines].reverse() }, true],
    ['another reason', { ...note, reason: 'Goodwill' }, false],
    ['another amount', { ...note, lines: [line('il_1', 499n), line('il_2', 20n)] }, false],
    ['another line', { ...note, lines: [line('il_1', 500n), line('il_3', 20n)] }, false],
    ['fewer lines', { ...note, lines: [line('il_1', 500n)] }, false],
    ['more lines', { ...note, lines: [...note.lines, line('il_3', 1n)] }, false],
  ])('is asked for again by a note with %s: %#', (_, requested, same) => {
    expect(isSameNote(note, requested)).toBe(same);
  });
});

describe('a refund that its provider does not list', () => {
  const afterMinutes = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);
  const absent: Refund = { ...pending, absentSince: NOW };

  it('is looked for again', () => {
    expect(withAbsence(pending, NOW)).toEqual(absent);
    expect(withAbsence(absent, afterMinutes(59))).toBe(absent);
    expect(withAbsence(absent, afterMinutes(-1))).toBe(absent);
  });

  it('is sent an hour after a clock was set right that was ahead', () => {
    const ahead = { ...absent, absentSince: afterMinutes(1_440) };
    expect(withAbsence(ahead, NOW)).toEqual(absent);
  });

  it('is sent with the next number an hour later', () => {
    const sentAt = afterMinutes(60);
    const next = { ...absent, providerAttempt: 2, sentAt, absentSince: null };
    expect(withAbsence(absent, sentAt)).toEqual(next);
  });
});

describe('a limit of refunds', () => {
  const limits = new Map([['USD', 5_000n]]);
  const payment = { currency: 'USD', amountRefunded: 3_000n, amountRefundPending: 2_000n };

  it.each([
    ['no limit', null, payment, null],
    ['the limit itself', limits, payment, null],
    ['one more refunded', limits, { ...payment, amountRefunded: 3_001n }, 5_000n],
    ['one more pending', limits, { ...payment, amountRefundPending: 2_001n }, 5_000n],
    ['a currency without a limit', limits, { ...payment, currency: 'EUR' }, 0n],
  ])('with %s is exceeded by: %s', (_, given, of, expected) => {
    expect(exceededLimit(given, of)).toBe(expected);
  });
});
