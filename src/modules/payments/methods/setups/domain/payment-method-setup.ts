import { isTerminal, type Transitions } from '../../../../../core/states';
import { pollAgainLater } from '../../../domain/poll-lease';
import type { ProviderSetupState } from '../../../domain/payment-provider';

export const SETUP_STATUSES = ['pending', 'succeeded', 'failed', 'expired'] as const;
export type SetupStatus = (typeof SETUP_STATUSES)[number];

/** Providers at which a customer can set up a payment method. */
export const SETUP_PROVIDERS = ['stripe'] as const;
export type SetupProvider = (typeof SETUP_PROVIDERS)[number];

/** A payment method that a customer enters in the browser, at the provider, without a charge. */
export interface PaymentMethodSetup {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly provider: SetupProvider;
  /** The provider's id of the setup. */
  readonly providerReference: string;
  readonly status: SetupStatus;
  /** True if the method becomes the default; null: only if the customer has no usable default. */
  readonly isDefault: boolean | null;
  /** The payment method, once the setup succeeded. */
  readonly paymentMethodId: string | null;
  /** Failure code of the customer's last failed attempt; null: none failed. The customer may try again until the setup ends. */
  readonly failureCode: string | null;
  /** Real time at which the setup is canceled. */
  readonly expiresAt: Date;
  /** Time of the next poll, or end of the lease of the process that is polling; null once the setup has ended. */
  readonly dueAt: Date | null;
  /** Number of the process that is asking the provider; null: none. */
  readonly leasedBy: number | null;
  /** Number of times that the provider gave no final answer. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Secret for the customer's browser to set up a payment method. */
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

/** Returns true once the setup has ended. */
export function isSetupEnded({ status }: Pick<PaymentMethodSetup, 'status'>): boolean {
  return isTerminal(SETUP_TRANSITIONS, status);
}

/** Time that the customer has to finish a setup, the same as for confirming a payment. */
const SETUP_MS = 24 * 3_600_000;
const FIRST_POLL_MS = 60_000;

/** Returns a pending setup that its provider has begun. */
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

/** Returns true if a pending setup has expired, so that it must be canceled. */
export function isOverdue({ expiresAt }: PaymentMethodSetup, now: Date): boolean {
  return expiresAt <= now;
}

/** Returns true if the setup expired at least a day ago. If its state is still unknown then, it counts as canceled. */
export function isAbandoned({ expiresAt }: PaymentMethodSetup, now: Date): boolean {
  return now.getTime() - expiresAt.getTime() >= SETUP_MS;
}

/**
 * Returns a pending setup after its provider reported a state. If the setup goes on, the next poll is planned.
 * @param paymentMethodId stored method, if the setup succeeded
 */
export function applyProviderState(
  setup: PaymentMethodSetup,
  state: ProviderSetupState,
  paymentMethodId: string | null,
  now: Date,
): PaymentMethodSetup {
  const ended = { ...setup, dueAt: null, leasedBy: null, version: setup.version + 1 };
  switch (state.kind) {
    case 'set_up':
      return { ...ended, status: 'succeeded', paymentMethodId, failureCode: null, updatedAt: now };
    case 'canceled': {
      const status = setup.failureCode === null ? 'expired' : 'failed';
      return { ...ended, status, updatedAt: now };
    }
    case 'refused':
      return { ...ended, status: 'failed', failureCode: state.failureCode, updatedAt: now };
    case 'waiting': {
      const next = { ...setup, ...planned(setup, now) };
      if (state.failureCode === setup.failureCode) return next;
      const { failureCode } = state;
      return { ...next, failureCode, version: setup.version + 1, updatedAt: now };
    }
    case 'unknown':
      return { ...setup, ...planned(setup, now) };
  }
}

/** Returns the plan of the next poll. A setup that has not expired is polled again no later than at its expiry. */
function planned(
  setup: PaymentMethodSetup,
  now: Date,
): Pick<PaymentMethodSetup, 'dueAt' | 'leasedBy' | 'attempts'> {
  const plan = pollAgainLater(setup, now);
  const isTooLate = setup.expiresAt > now && plan.dueAt > setup.expiresAt;
  return isTooLate ? { ...plan, dueAt: setup.expiresAt } : plan;
}
