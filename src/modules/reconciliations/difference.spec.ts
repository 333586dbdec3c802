import type { MovementState, ProviderMovement } from '../payments';
import { type BookedMovement, differenceBetween } from './difference';

const booked = (fields: Partial<BookedMovement> = {}): BookedMovement => ({
  kind: 'charge',
  id: 'pay_1',
  paymentId: 'pay_1',
  reference: 'pi_1',
  amount: 1_000n,
  currency: 'USD',
  state: 'succeeded',
  ...fields,
});

const reported = (fields: Partial<ProviderMovement> = {}): ProviderMovement => ({
  kind: 'charge',
  reference: 'pi_1',
  subjectId: 'pay_1',
  chargeReference: null,
  amount: 1_000n,
  currency: 'USD',
  state: 'succeeded',
  ...fields,
});

describe('books and provider', () => {
  it.each<[string, BookedMovement | null, ProviderMovement | null, string | null]>([
    ['agree', booked(), reported(), null],
    ['know nothing', null, null, null],
    ['differ in the amount', booked(), reported({ amount: 999n }), 'amount'],
    ['differ in the currency', booked(), reported({ currency: 'EUR' }), 'currency'],
    ['money that is not booked', null, reported(), 'missing_here'],
    ['a charge without money that is not booked', null, reported({ state: 'open' }), null],
    ['money that the provider does not know', booked(), null, 'missing_at_provider'],
    ['a failed payment that the provider does not know', booked({ state: 'ended' }), null, null],
    ['an open payment that the provider does not know', booked({ state: 'open' }), null, null],
    ['a second charge of a payment', booked(), reported({ reference: 'pi_2' }), 'charged_twice'],
    [
      'a second charge that was given up',
      booked(),
      reported({ reference: 'pi_2', state: 'ended' }),
      null,
    ],
  ])('%s', (_, ours, theirs, difference) => {
    expect(differenceBetween(ours, theirs)).toBe(difference);
  });

  it.each<[string, BookedMovement | null, ProviderMovement, string | null]>([
    [
      'a second charge of a payment is no difference',
      booked(),
      reported({ reference: 'pi_2' }),
      null,
    ],
    ['money that is not booked is no difference', null, reported(), null],
    ['a payment that failed is one', booked({ state: 'ended' }), reported(), 'status'],
  ])('after a refund in full, %s', (_, ours, theirs, difference) => {
    expect(differenceBetween(ours, theirs, true)).toBe(difference);
  });

  it.each<[MovementState, MovementState, string | null]>([
    ['succeeded', 'succeeded', null],
    ['succeeded', 'open', 'status'],
    ['succeeded', 'ended', 'status'],
    ['open', 'succeeded', null],
    ['open', 'open', null],
    ['open', 'ended', null],
    ['ended', 'succeeded', 'status'],
    ['ended', 'open', null],
    ['ended', 'ended', null],
  ])('%s here and %s there: %s', (here, there, difference) => {
    expect(differenceBetween(booked({ state: here }), reported({ state: there }))).toBe(difference);
  });
});
