import { reachableFrom } from '../../../../test/support/reachable';
import {
  type PolledOutcome,
  type Payment,
  PAYMENT_STATUSES,
  PAYMENT_TRANSITIONS,
  withOutcome,
} from './payment';
import type { ProviderOutcome } from './payment-provider';
import { decideRefund, refundableOf } from './refundable';
import { pollAgainLater } from './poll-lease';

const NOW = new Date('2026-03-01T00:00:00.000Z');

const payment: Payment = {
  id: 'pay_01h455vb4pex5vsknk084sn02q',
  version: 1,
  customerId: 'cus_01h455vb4pex5vsknk084sn02q',
  invoiceId: null,
  collectionAttempt: null,
  actor: 'open',
  amount: 10_000n,
  currency: 'USD',
  status: 'pending',
  amountApplied: 0n,
  amountRefunded: 0n,
  amountRefundPending: 0n,
  amountLost: 0n,
  isDisputed: false,
  provider: 'sandbox',
  paymentMethodId: null,
  providerToken: null,
  providerReference: null,
  providerAttempt: 1,
  sentAt: NOW,
  failureCode: null,
  metadata: {},
  dueAt: NOW,
  leasedBy: 7,
  attempts: 0,
  interruptions: 0,
  createdAt: NOW,
  updatedAt: NOW,
};
const succeeded: Payment = { ...payment, status: 'succeeded', dueAt: null, leasedBy: null };

const asked = (outcome: ProviderOutcome, leasedBy = 7, dueAt = NOW): PolledOutcome => ({
  outcome,
  askedAt: NOW,
  lease: { leasedBy, dueAt },
});

describe('a payment', () => {
  it('can reach every state from pending', () => {
    expect([...reachableFrom(PAYMENT_TRANSITIONS, 'pending')].sort()).toEqual(
      [...PAYMENT_STATUSES].sort(),
    );
  });

  it('succeeds and fails for good', () => {
    expect(withOutcome(payment, asked({ kind: 'succeeded', reference: 'r' }), NOW)).toMatchObject({
      status: 'succeeded',
      providerReference: 'r',
      dueAt: null,
      leasedBy: null,
    });
    expect(
      withOutcome(
        payment,
        asked({ kind: 'failed', failureCode: 'card_declined', retry: 'soft' }),
        NOW,
      ),
    ).toMatchObject({
      status: 'failed',
      failureCode: 'card_declined',
      dueAt: null,
    });
  });

  it.each([{ kind: 'pending', reference: 'r' }, { kind: 'unknown' }] as const)(
    'without a final answer (%j) is processing, and asked about again',
    (outcome) => {
      const processing = withOutcome(payment, asked(outcome), NOW);
      expect(processing).toMatchObject({ status: 'processing', attempts: 1, leasedBy: null });
      expect(processing.dueAt).toEqual(new Date('2026-03-01T00:00:05.000Z'));
    },
  );

  it.each([
    ['processing', { kind: 'pending', reference: 'r' }],
    ['processing', { kind: 'unknown' }],
    ['requires_action', { kind: 'unknown' }],
    ['requires_action', { kind: 'requires_action', reference: 'r' }],
  ] as const)('that is %s keeps its version after the answer %j', (status, outcome) => {
    const before: Payment = { ...payment, status, version: 2 };
    const later = new Date(NOW.getTime() + 60_000);
    const { version, updatedAt, attempts } = withOutcome(before, asked(outcome), later);
    expect({ version, updatedAt, attempts }).toEqual({ version: 2, updatedAt: NOW, attempts: 1 });
    const changed = withOutcome({ ...before, status: 'pending' }, asked(outcome), later);
    expect(changed).toMatchObject({ version: 3, updatedAt: later });
  });

  it.each([
    ['another process', asked({ kind: 'unknown' }, 6)],
    ['the same process', asked({ kind: 'unknown' }, 7, new Date(NOW.getTime() - 1))],
  ])('keeps a later lease of %s when an answer without an end comes late', (_, late) => {
    expect(withOutcome(payment, late, NOW)).toMatchObject({
      status: 'processing',
      attempts: 0,
      dueAt: NOW,
      leasedBy: 7,
    });
  });

  it('that is final does not change with a late answer', () => {
    expect(
      withOutcome(succeeded, asked({ kind: 'failed', failureCode: 'late', retry: 'soft' }), NOW),
    ).toBe(succeeded);
    const failed: Payment = { ...payment, status: 'failed' };
    expect(withOutcome(failed, asked({ kind: 'succeeded', reference: 'r' }), NOW)).toBe(failed);
  });

  it.each([
    [0, '2026-03-01T00:00:05.000Z'],
    [3, '2026-03-01T00:00:40.000Z'],
    [9, '2026-03-01T00:42:40.000Z'],
    [10, '2026-03-01T01:00:00.000Z'],
    [2_000, '2026-03-01T01:00:00.000Z'],
  ])('after %i attempts is asked about again at %s', (attempts, at) => {
    expect(pollAgainLater({ attempts }, NOW).dueAt).toEqual(new Date(at));
  });
});

describe('a refund of a payment', () => {
  const partly: Payment = { ...succeeded, amountRefunded: 3_000n, amountRefundPending: 2_000n };

  it('may take what is neither refunded nor pending nor used as credit', () => {
    expect(refundableOf(partly, 0n)).toBe(5_000n);
    expect(refundableOf(partly, 4_000n)).toBe(1_000n);
    expect(refundableOf(partly, 10_000n)).toBe(0n);
    expect(refundableOf(payment, 0n)).toBe(0n);
  });

  it('may take other credit, up to what is left of the payment', () => {
    expect(refundableOf(partly, 4_000n, 300n)).toBe(1_300n);
    expect(refundableOf(partly, 10_000n, 300n)).toBe(300n);
    expect(refundableOf(partly, 4_000n, 9_000n)).toBe(5_000n);
    expect(refundableOf(partly, -100n, 300n)).toBe(5_000n);
    expect(refundableOf(payment, 0n, 300n)).toBe(0n);
  });

  it.each([
    ['all of it', succeeded, null, { kind: 'reserve', amount: 10_000n }],
    ['one minor unit', succeeded, 1n, { kind: 'reserve', amount: 1n }],
    ['exactly what remains', partly, 5_000n, { kind: 'reserve', amount: 5_000n }],
    ['what remains when no amount is given', partly, null, { kind: 'reserve', amount: 5_000n }],
    ['one more than remains', partly, 5_001n, { kind: 'exceeds', refundable: 5_000n }],
    ['nothing', succeeded, 0n, { kind: 'exceeds', refundable: 10_000n }],
    [
      'all when nothing remains',
      { ...succeeded, amountRefunded: 10_000n },
      null,
      { kind: 'exceeds', refundable: 0n },
    ],
    [
      'anything of a disputed one',
      { ...succeeded, isDisputed: true },
      1n,
      { kind: 'disputed', paymentId: payment.id },
    ],
    [
      'what a lost dispute left',
      { ...partly, amountLost: 4_000n },
      null,
      { kind: 'reserve', amount: 1_000n },
    ],
    [
      'anything after a refund and a dispute met',
      { ...partly, amountLost: 10_000n },
      null,
      { kind: 'exceeds', refundable: 0n },
    ],
    ['anything of a payment that is pending', payment, 1n, { kind: 'not_succeeded' }],
    [
      'anything of one that failed',
      { ...payment, status: 'failed' },
      1n,
      { kind: 'not_succeeded' },
    ],
  ] as const)('of %s', (_, of, requested, decision) => {
    const used = { usedMinor: 0n, usedIfLostMinor: 0n, disputedId: null };
    expect(decideRefund(of, requested, used, 0n)).toEqual(decision);
  });

  it.each([
    ['what is left', null, 0n, { kind: 'reserve', amount: 2_000n }],
    ['what is left', 2_000n, 0n, { kind: 'reserve', amount: 2_000n }],
    ['what is left, and other credit', 2_300n, 300n, { kind: 'reserve', amount: 2_300n }],
    ['more', 2_301n, 300n, { kind: 'disputed', paymentId: 'pay_other' }],
    [
      'all that would be left without it',
      4_300n,
      300n,
      { kind: 'disputed', paymentId: 'pay_other' },
    ],
    ['more than that', 4_301n, 300n, { kind: 'exceeds', refundable: 2_300n }],
  ] as const)(
    'beside a dispute about another payment takes %s',
    (_, requested, creditMinor, decision) => {
      const used = { usedMinor: 1_000n, usedIfLostMinor: 3_000n, disputedId: 'pay_other' };
      expect(decideRefund(partly, requested, used, creditMinor)).toEqual(decision);
    },
  );

  it('beside a dispute that may take all that is left names the disputed payment', () => {
    const used = { usedMinor: 1_000n, usedIfLostMinor: 5_000n, disputedId: 'pay_other' };
    expect(decideRefund(partly, null, used, 0n)).toEqual({
      kind: 'disputed',
      paymentId: 'pay_other',
    });
  });
});
