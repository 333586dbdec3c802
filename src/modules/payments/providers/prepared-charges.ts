import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { isMisdated } from '../../../core/next-version';
import { Clock } from '../../../platform/clock';
import { CustomersService } from '../../customers';
import { InvoicePaymentsService, unpaidOf } from '../../invoicing';
import { actionExpiresAt, hasEnded, type Payment } from '../domain/payment';
import {
  type ChargeRequest,
  type FailedOutcome,
  MAX_REPLAYS,
  METHOD_UNUSABLE,
  type NotSentOutcome,
  type PreparingProvider,
  type ProviderOutcome,
  type UnknownOutcome,
  withoutCharge,
} from '../domain/payment-provider';
import { PaymentMethodsRepository } from '../methods/payment-methods.repository';
import { PaymentsRepository } from '../payments.repository';
import { ProviderCustomersRepository } from './provider-customers.repository';

/** Outcome of a payment whose charge must not be made any more. */
type WithdrawnOutcome = FailedOutcome | Extract<ProviderOutcome, { kind: 'canceled' }>;

const UNKNOWN: UnknownOutcome = { kind: 'unknown' };

/**
 * Charges at a {@link PreparingProvider}: prepares the charge, commits the reference, and confirms the charge. A
 * payment never succeeds twice, because only the committed reference is confirmed, and a prepared charge succeeds at
 * most once.
 */
@Injectable()
export class PreparedCharges {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly providerCustomers: ProviderCustomersRepository,
    private readonly methods: PaymentMethodsRepository,
    private readonly customers: CustomersService,
    private readonly invoices: InvoicePaymentsService,
    private readonly clock: Clock,
  ) {}

  /** Returns true if the charge is automatic and a final decline made the payment method unusable. */
  async isMethodUnusable({ collectionAttempt, paymentMethodId }: Payment): Promise<boolean> {
    if (collectionAttempt === null || paymentMethodId === null) return false;
    return this.methods.isUnusable(paymentMethodId);
  }

  /** Prepares the charge if the payment has no reference yet, and confirms the charge. */
  async charge(provider: PreparingProvider, payment: Payment): Promise<ProviderOutcome> {
    if (payment.providerReference !== null) {
      return this.confirm(provider, payment, payment.providerReference);
    }
    const prepared = await provider.prepare(
      chargeRequest(payment, keyOf(payment, 'prepare')),
      await this.customerReference(provider, payment),
    );
    if (prepared.kind !== 'prepared') return withoutCharge(prepared);
    const reference = await this.payments.keepReference(payment.id, prepared.reference);
    return reference === null ? UNKNOWN : this.confirm(provider, payment, reference);
  }

  /**
   * Reads the state of a charge from the provider and continues from there. A charge that is only prepared is
   * confirmed, or canceled if the charge must not be made any more. A charge that the customer did not confirm in time
   * is canceled.
   */
  async resume(provider: PreparingProvider, payment: Payment): Promise<ProviderOutcome> {
    if (payment.providerReference === null) return this.recover(provider, payment);
    const seen = await provider.retrieve(payment.providerReference);
    if (seen.kind === 'prepared') {
      const withdrawn = await this.withdrawnOutcome(payment);
      if (withdrawn !== null) return giveUp(provider, seen.reference, withdrawn);
      const next = await this.payments.nextAttempt(payment, this.clock.now());
      return next === null ? UNKNOWN : this.confirm(provider, next, seen.reference);
    }
    const isLate =
      payment.status === 'requires_action' && actionExpiresAt(payment) <= this.clock.now();
    return seen.kind === 'requires_action' && isLate ? provider.cancel(seen.reference) : seen;
  }

  /**
   * Continues a payment without a committed reference:
   * 1. Searches for the charge at the provider. This comes first, because the idempotency key may be an old one: in a
   *   restored database, `providerAttempt` may be lower than the number last sent.
   * 2. Without a charge, the first polls repeat the request with the same key, while the provider still knows the key.
   * 3. Later polls prepare a new charge. Even if two charges were prepared, only the charge with the committed
   *   reference is confirmed.
   */
  private async recover(provider: PreparingProvider, payment: Payment): Promise<ProviderOutcome> {
    if (hasEnded(payment)) return UNKNOWN;
    const found = await this.restoreReference(provider, payment);
    if (typeof found === 'string')
      return this.resume(provider, { ...payment, providerReference: found });
    if (found !== null) return found;
    const withdrawn = await this.withdrawnOutcome(payment);
    if (withdrawn !== null) return withoutCharge(withdrawn);
    const now = this.clock.now();
    const sentAt = firstSentAt(payment, now);
    const isReplayed =
      sentAt !== null &&
      now.getTime() - sentAt.getTime() < provider.replayMs &&
      payment.attempts <= MAX_REPLAYS;
    const next = isReplayed ? payment : await this.payments.nextAttempt(payment, now);
    return next === null ? UNKNOWN : this.charge(provider, next);
  }

  /**
   * Searches for the charge of a payment without a committed reference, and commits the reference. Returns the
   * committed reference, or:
   * - null if the provider has no charge
   * - `not_sent` if the provider does not answer
   * - `unknown` if the payment has ended meanwhile
   */
  async restoreReference(
    provider: PreparingProvider,
    payment: Payment,
  ): Promise<string | NotSentOutcome | UnknownOutcome | null> {
    const { id: paymentId, amount, currency } = payment;
    const customerReference = await this.customerReference(provider, payment);
    const sentAt = firstSentAt(payment, this.clock.now());
    const found = await provider.find({ paymentId, amount, currency, customerReference, sentAt });
    if (typeof found !== 'string') return found;
    return (await this.payments.keepReference(paymentId, found)) ?? UNKNOWN;
  }

  /**
   * Returns the outcome of a pending payment if its charge must not be made any more; null if the charge may be made.
   */
  private async withdrawnOutcome(payment: Payment): Promise<WithdrawnOutcome | null> {
    if (await this.isMethodUnusable(payment)) return METHOD_UNUSABLE;
    return (await this.isWanted(payment)) ? null : { kind: 'canceled' };
  }

  /**
   * Returns false if the customer or the payment method was deleted, or if nothing is owed on the invoice any more.
   * Also returns false for an automatic payment if the invoice is not open, for example because it is written off.
   */
  private async isWanted(payment: Payment): Promise<boolean> {
    const { customerId, paymentMethodId, invoiceId, collectionAttempt } = payment;
    const existing = await this.customers.findExistingIds([customerId]);
    if (!existing.has(customerId)) return false;
    if (paymentMethodId !== null) {
      const method = await this.methods.find(customerId, paymentMethodId);
      if (method === null) return false;
    }
    if (invoiceId === null) return true;
    const invoice = await this.invoices.get(invoiceId);
    if (collectionAttempt !== null && invoice.status !== 'open') return false;
    return unpaidOf(invoice) > 0n;
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
    const reference = await this.providerCustomers.find(customerId, name);
    invariant(reference !== null, `The customer of ${id} is unknown to ${name}.`);
    return reference;
  }
}

async function giveUp(
  provider: PreparingProvider,
  reference: string,
  withdrawn: WithdrawnOutcome,
): Promise<ProviderOutcome> {
  const outcome = await provider.cancel(reference);
  return outcome.kind === 'canceled' ? withdrawn : outcome;
}

/** Returns the time of the first request with the current idempotency keys; null if a clock that was ahead dated it. */
function firstSentAt({ sentAt, createdAt }: Payment, now: Date): Date | null {
  const date = sentAt ?? createdAt;
  return isMisdated(date, now) ? null : date;
}

const keyOf = ({ id, providerAttempt }: Payment, step: 'prepare' | 'confirm'): string =>
  `${id}:${step}:${providerAttempt}`;

/**
 * Returns the request for the charge of a payment. Uses only stored fields of the payment, so that a repeated request
 * has the same parameters. Does not contain the provider's id of the customer. If that id has changed, the provider
 * refuses the idempotency key, until a later poll uses another key.
 */
export function chargeRequest(payment: Payment, idempotencyKey: string): ChargeRequest {
  const { id: paymentId, customerId, invoiceId, amount, currency, providerToken: token } = payment;
  const session = payment.collectionAttempt === null ? 'on' : 'off';
  return { idempotencyKey, paymentId, customerId, invoiceId, amount, currency, token, session };
}
