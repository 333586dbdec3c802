import { METHOD_UNUSABLE } from '../domain/payment-provider';

export interface SandboxBehaviour {
  readonly outcome: 'succeeded' | 'failed' | 'pending';
  readonly failureCode: string | null;
  /** True: the first call stores the outcome, but gets no answer. The next call with the same key gets the outcome. */
  readonly timesOut: boolean;
}

const SUCCEEDS: SandboxBehaviour = { outcome: 'succeeded', failureCode: null, timesOut: false };
const PENDS: SandboxBehaviour = { outcome: 'pending', failureCode: null, timesOut: false };
const TIMES_OUT: SandboxBehaviour = { outcome: 'succeeded', failureCode: null, timesOut: true };
const failsWith = (failureCode: string): SandboxBehaviour => ({
  outcome: 'failed',
  failureCode,
  timesOut: false,
});

/** Behaviour of charges, and of refunds of these charges, by the token of the payment method. */
export const SANDBOX_TOKENS = {
  pm_sandbox_ok: { charge: SUCCEEDS, refund: SUCCEEDS },
  pm_sandbox_declined: { charge: failsWith('card_declined'), refund: SUCCEEDS },
  pm_sandbox_insufficient_funds: { charge: failsWith('insufficient_funds'), refund: SUCCEEDS },
  pm_sandbox_unusable: { charge: failsWith(METHOD_UNUSABLE.failureCode), refund: SUCCEEDS },
  pm_sandbox_pending: { charge: PENDS, refund: SUCCEEDS },
  pm_sandbox_refund_fails: { charge: SUCCEEDS, refund: failsWith('refund_declined') },
  pm_sandbox_refund_pending: { charge: SUCCEEDS, refund: PENDS },
  pm_sandbox_unknown: { charge: TIMES_OUT, refund: TIMES_OUT },
} as const satisfies Record<string, { charge: SandboxBehaviour; refund: SandboxBehaviour }>;

export type SandboxToken = keyof typeof SANDBOX_TOKENS;

export const DEFAULT_SANDBOX_TOKEN: SandboxToken = 'pm_sandbox_ok';

export function isSandboxToken(text: string): text is SandboxToken {
  return Object.hasOwn(SANDBOX_TOKENS, text);
}
