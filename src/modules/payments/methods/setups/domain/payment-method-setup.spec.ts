import type { ProviderSetupState } from '../../../domain/payment-provider';
import {
  isAbandoned,
  newSetup,
  type PaymentMethodSetup,
  applyProviderState,
} from './payment-method-setup';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const NO_DETAILS = { brand: null, last4: null, expiryMonth: null, expiryYear: null };
const SET_UP: ProviderSetupState = { kind: 'set_up', token: 'pm_1', details: NO_DETAILS };
const WAITING: ProviderSetupState = { kind: 'waiting', failureCode: null };
const DECLINED: ProviderSetupState = { kind: 'waiting', failureCode: 'declined' };
const CANCELED: ProviderSetupState = { kind: 'canceled' };
const REFUSED: ProviderSetupState = { kind: 'refused', failureCode: 'method_unusable' };

const pending = newSetup(
  {
    id: 'pms_1',
    customerId: 'cus_1',
    provider: 'stripe',
    providerReference: 'seti_1',
    isDefault: null,
  },
  NOW,
);

const later = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);

/** Applies states in turn. */
function after(...states: readonly ProviderSetupState[]): PaymentMethodSetup {
  return states.reduce((setup, state) => applyProviderState(setup, state, 'pm_2', NOW), pending);
}

describe('a setup of a payment method', () => {
  it.each([
    ['waits for its customer', [WAITING], 'pending', null],
    ['goes on after a decline', [DECLINED], 'pending', 'declined'],
    ['succeeds after a decline', [DECLINED, SET_UP], 'succeeded', null],
    ['expires without an attempt', [WAITING, CANCELED], 'expired', null],
    ['fails if its attempts failed', [DECLINED, CANCELED], 'failed', 'declined'],
    ['fails if its method cannot be kept', [REFUSED], 'failed', 'method_unusable'],
    ['is looked at again without an answer', [{ kind: 'unknown' }], 'pending', null],
  ] as const)('%s', (_, states, status, failureCode) => {
    expect(after(...states)).toMatchObject({ status, failureCode });
  });

  it('names its payment method and is not polled once it succeeded', () => {
    expect(after(SET_UP)).toMatchObject({ paymentMethodId: 'pm_2', dueAt: null, version: 2 });
  });

  it('has a new version only if something changed', () => {
    expect(after(WAITING, WAITING)).toMatchObject({ version: 1, attempts: 2 });
    expect(after(DECLINED, DECLINED)).toMatchObject({ version: 2, attempts: 2 });
  });

  it.each([DECLINED, SET_UP, CANCELED, REFUSED])(
    'keeps updatedAt if the clock is behind: %j',
    (state) => {
      const changed = applyProviderState(pending, state, 'pm_2', later(-1));
      expect(changed).toMatchObject({ version: 2, updatedAt: NOW });
    },
  );

  it('is abandoned a day after it expired', () => {
    expect(isAbandoned(pending, later(48 * 60 - 1))).toBe(false);
    expect(isAbandoned(pending, later(48 * 60))).toBe(true);
  });

  it('is polled when it is given up at the latest', () => {
    const polledOften = { ...pending, attempts: 20 };
    const before = applyProviderState(polledOften, WAITING, null, later(23 * 60 + 30));
    expect(before.dueAt).toEqual(pending.expiresAt);
    const past = applyProviderState(polledOften, { kind: 'unknown' }, null, later(25 * 60));
    expect(past.dueAt).toEqual(later(26 * 60));
  });
});
