import { isMisdated, nextVersion } from '../../../../../core/next-version';
import { isTerminal, type Transitions } from '../../../../../core/states';
import { pollAgainLater } from '../../../domain/poll-lease';
import type { ProviderSetupState } from '../../../domain/payment-provider';

export const SETUP_STATUSES = ['pending', 'succeeded', 'failed', 'expired'] as const;
export type SetupStatus = (typeof SETUP_STATUSES)[number];

export const SETUP_PROVIDERS = ['stripe'] as const;
export type SetupProvider = (typeof SETUP_PROVIDERS)[number];

/**
 * Request to a customer to enter a payment method in the browser. The provider stores the method and charges nothing.
 */
export interface PaymentMethodSetup {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly provider: SetupProvider;
  readonly providerReference: string;
  readonly status: SetupStatus;
  /** Null: the method becomes the default only if the customer has no usable default. */
  readonly isDefault: boolean | null;
  /** Id of the stored payment method; null if the setup has not succeeded. */
  readonly paymentMethodId: string | null;
  /**
   * Failure code of the customer's last failed attempt; null if no attempt failed. The customer may try again until the
   * setup ends.
   */
  readonly failureCode: string | null;
  /** Real time at which the setup is canceled. */
  readonly expiresAt: Date;
  /** Time of the next poll. During a poll: the end of the lease of the polling process. Null: the setup has ended. */
  readonly dueAt: Date | null;
  /** Number of the process that is polling the setup; null: none. */
  readonly leasedBy: number | null;
  /** Number of polls that did not end the setup. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Secret with which the customer's browser sets up a payment method at the provider. */
export interface SetupSecret {
  readonly setupId: string;
  readonly provider: SetupProvider;
  readonly clientSecret: string;
  readonly expiresAt: Date;
}

export const SETUP_TRANSITIONS: Transitions<SetupStatus> = {
  pending: ['succeeded', 'failed', 'expired'],
  succeeded: [],
  failed: [],
  expired: [],
};

export function isSetupEnded({ status }: Pick<PaymentMethodSetup, 'status'>): boolean {
  return isTerminal(SETUP_TRANSITIONS, status);
}

const SETUP_MS = 24 * 3_600_000;
const FIRST_POLL_MS = 60_000;

export function newSetup(
  begun: Pick<
    PaymentMethodSetup,
    'id' | 'customerId' | 'provider' | 'providerReference' | 'isDefault'
  >,
  now: Date,
): PaymentMethodSetup {
  return {
    ...begun,
    version: 1,
    status: 'pending',
    paymentMethodId: null,
    failureCode: null,
    expiresAt: new Date(now.getTime() + SETUP_MS),
    dueAt: new Date(now.getTime() + FIRST_POLL_MS),
    leasedBy: null,
    attempts: 0,
    createdAt: now,
    updatedAt: now,
  };
}

export function isOverdue({ expiresAt }: PaymentMethodSetup, now: Date): boolean {
  return expiresAt <= now;
}

/**
 * Returns true if the setup expired at least 24 hours ago. From then on, a setup that the provider does not have counts
 * as canceled. The provider lacks the setup if, for example, the API key is of another account.
 */
export function isAbandoned({ expiresAt }: PaymentMethodSetup, now: Date): boolean {
  return now.getTime() - expiresAt.getTime() >= SETUP_MS;
}

/**
 * Applies the provider's state to a pending setup. If the setup has not ended, plans the next poll.
 * @param paymentMethodId id of the stored method if the setup succeeded; otherwise null
 */
export function applyProviderState(
  setup: PaymentMethodSetup,
  state: ProviderSetupState,
  paymentMethodId: string | null,
  now: Date,
): PaymentMethodSetup {
  const ended = nextVersion(setup, now, { dueAt: null, leasedBy: null });
  switch (state.kind) {
    case 'set_up':
      return { ...ended, status: 'succeeded', paymentMethodId, failureCode: null };
    case 'canceled': {
      const status = setup.failureCode === null ? 'expired' : 'failed';
      return { ...ended, status };
    }
    case 'refused':
      return { ...ended, status: 'failed', failureCode: state.failureCode };
    case 'waiting':
    case 'missing':
    case 'unknown': {
      const { failureCode } = state.kind === 'waiting' ? state : setup;
      const expiresAt = expiresAtBy(setup, now);
      const next = { ...setup, ...planned({ ...setup, expiresAt }, now) };
      const isSame = failureCode === setup.failureCode && expiresAt === setup.expiresAt;
      return isSame ? next : nextVersion(next, now, { failureCode, expiresAt });
    }
  }
}

/** Returns `expiresAt` of a setup, or 24 hours after `now` if a clock that was ahead dated the setup. */
function expiresAtBy({ expiresAt }: PaymentMethodSetup, now: Date): Date {
  const latest = new Date(now.getTime() + SETUP_MS);
  return isMisdated(expiresAt, latest) ? latest : expiresAt;
}

/** Plans the next poll. A setup that has not expired is polled at its expiry at the latest. */
function planned(
  setup: PaymentMethodSetup,
  now: Date,
): Pick<PaymentMethodSetup, 'dueAt' | 'leasedBy' | 'attempts'> {
  const plan = pollAgainLater(setup, now);
  const isTooLate = setup.expiresAt > now && plan.dueAt > setup.expiresAt;
  return isTooLate ? { ...plan, dueAt: setup.expiresAt } : plan;
}
