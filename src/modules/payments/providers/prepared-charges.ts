import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { actionExpiresAt, hasEnded, type Payment } from '../domain/payment';
import {
  type ChargeRequest,
  METHOD_UNUSABLE,
  type PreparingProvider,
  type ProviderOutcome,
} from '../domain/payment-provider';
import { PaymentMethodsRepository } from '../methods/payment-methods.repository';
import { PaymentsRepository } from '../payments.repository';
import { ProviderCustomersRepository } from './provider-customers.repository';

/**
 * Number of polls without an answer up to which the request is repeated. Later polls search for the lost reference at the
 * provider.
 */
const MAX_REPLAYS = 2;

const UNKNOWN: ProviderOutcome = { kind: 'unknown' };

/**
 * Charges at providers with two steps: prepares the charge, commits its reference, confirms it. A payment never succeeds twice,
 * because only the committed reference is confirmed, and a prepared charge succeeds at most once.
 */
@Injectable()
export class PreparedCharges {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly customers: ProviderCustomersRepository,
    private readonly methods: PaymentMethodsRepository,
    private readonly clock: Clock,
  ) {}

  /** Returns true for an automatic charge of a payment method that a final decline made unusable. */
  async isMethodUnusable({ collectionAttempt, paymentMethodId }: Payment): Promise<boolean> {
    if (collectionAttempt === null || paymentMethodId === null) return false;
    return this.methods.isUnusable(paymentMethodId);
  }

  /** Prepares the charge if needed, and confirms it. */
  async charge(provider: PreparingProvider, payment: Payment): Promise<ProviderOutcome> {
    if (payment.providerReference !== null) {
      return this.confirm(provider, payment, payment.providerReference);
    }
    const prepared = await provider.prepare(
      chargeRequest(payment, keyOf(payment, 'prepare')),
      await this.customerReference(provider, payment),
    );
    if (prepared.kind !== 'prepared') return prepared;
    const reference = await this.payments.keepReference(payment.id, prepared.reference);
    return reference === null ? UNKNOWN : this.confirm(provider, payment, reference);
  }

  /**
   * Reads the state of a charge from its provider and continues from there. Confirms a charge that is only prepared, or cancels
   * it if its payment method became unusable. Cancels a charge that its customer did not confirm in time.
   */
  async resume(provider: PreparingProvider, payment: Payment): Promise<ProviderOutcome> {
    if (payment.providerReference === null) return this.recover(provider, payment);
    const seen = await provider.retrieve(payment.providerReference);
    if (seen.kind === 'prepared') {
      if (await this.isMethodUnusable(payment)) return giveUp(provider, seen.reference);
      const next = await this.payments.nextAttempt(payment, this.clock.now());
      return next === null ? UNKNOWN : this.confirm(provider, next, seen.reference);
    }
    const isLate =
      payment.status === 'requires_action' && actionExpiresAt(payment) <= this.clock.now();
    return seen.kind === 'requires_action' && isLate ? provider.cancel(seen.reference) : seen;
  }

  /**
   * Continues a payment without a committed reference. Repeats the request while the provider replays its key. After that,
   * looks for the charge at the provider, and prepares a charge only if there is none. If two charges were prepared, only one
   * is confirmed.
   */
  private async recover(provider: PreparingProvider, payment: Payment): Promise<ProviderOutcome> {
    if (hasEnded(payment)) return UNKNOWN;
    const now = this.clock.now();
    const sentAt = payment.sentAt ?? payment.createdAt;
    const isUnusable = await this.isMethodUnusable(payment);
    const isReplayed = now.getTime() - sentAt.getTime() < provider.replayMs;
    if (!isUnusable && isReplayed && payment.attempts <= MAX_REPLAYS)
      return this.charge(provider, payment);
    const customerReference = await this.customerReference(provider, payment);
    const found = await provider.find({ paymentId: payment.id, customerReference, sentAt });
    if (found !== null) {
      const reference = await this.payments.keepReference(payment.id, found);
      return reference === null ? UNKNOWN : provider.retrieve(reference).then(unknownIfPrepared);
    }
    if (isUnusable) return METHOD_UNUSABLE;
    const next = await this.payments.nextAttempt(payment, now);
    return next === null ? UNKNOWN : this.charge(provider, next);
  }

  private confirm(
    provider: PreparingProvider,
    payment: Payment,
    reference: string,
  ): Promise<ProviderOutcome> {
    return provider.confirm(reference, chargeRequest(payment, keyOf(payment, 'confirm')));
  }

  private async customerReference(
    { name }: PreparingProvider,
    { id, customerId }: Payment,
  ): Promise<string> {
    const reference = await this.customers.find(customerId, name);
    invariant(reference !== null, `The customer of ${id} is unknown to ${name}.`);
    return reference;
  }
}

/**
 * Cancels a charge whose payment method became unusable, and returns {@link METHOD_UNUSABLE}. Returns the outcome of the
 * cancellation if the charge is not canceled.
 */
async function giveUp(provider: PreparingProvider, reference: string): Promise<ProviderOutcome> {
  const outcome = await provider.cancel(reference);
  return outcome.kind === 'canceled' ? METHOD_UNUSABLE : outcome;
}

/** Returns `unknown` for a charge that is only prepared, because the next poll confirms it. */
function unknownIfPrepared(
  seen: Awaited<ReturnType<PreparingProvider['retrieve']>>,
): ProviderOutcome {
  return seen.kind === 'prepared' ? UNKNOWN : seen;
}

const keyOf = ({ id, providerAttempt }: Payment, step: 'prepare' | 'confirm'): string =>
  `${id}:${step}:${providerAttempt}`;

/** Returns the request of a payment. It depends on the row alone, so that a repeated key has the same parameters. */
export function chargeRequest(payment: Payment, idempotencyKey: string): ChargeRequest {
  const { id: paymentId, customerId, invoiceId, amount, currency, providerToken: token } = payment;
  const session = payment.collectionAttempt === null ? 'on' : 'off';
  return { idempotencyKey, paymentId, customerId, invoiceId, amount, currency, token, session };
}
