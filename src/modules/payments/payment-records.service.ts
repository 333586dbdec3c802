import { Injectable, Logger } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { postPayment, postRecovery } from '../../core/ledger';
import { changedAt, nextVersion } from '../../core/next-version';
import { BoundedMap } from '../../platform/caching';
import { raise } from '../../platform/errors';
import { Idempotency } from '../../platform/idempotency';
import { Outbox } from '../../platform/outbox';
import { CustomersService } from '../customers';
import { CreditBalanceService, type Invoice } from '../invoicing';
import { LedgerService } from '../ledger';
import { TestClocksService } from '../test-clocks';
import { DiscrepanciesService } from './discrepancies/discrepancies.service';
import { discrepancyOf } from './discrepancies/domain/discrepancy';
import type { Payment } from './domain/payment';
import type { ProviderName, ProviderOutcome } from './domain/payment-provider';
import { paymentNotFound } from './payments.errors';
import { PAYMENT_EVENTS, paymentAnswer, paymentUpdated } from './payments.events';
import { PaymentsRepository } from './payments.repository';

const MAX_CACHED_CUSTOMERS = 10_000;

/** The payment, and the refund if there is one, about which a provider was asked. */
interface AskedAbout extends Pick<Payment, 'customerId'> {
  readonly paymentId: string;
  readonly refundId?: string;
  readonly provider?: ProviderName;
}

/**
 * Stores outcomes of payments in the caller's transaction, with their events, their ledger postings, and the answers
 * that idempotent replays get.
 */
@Injectable()
export class PaymentRecordsService {
  private readonly logger = new Logger('payments');
  /** Ids of test clocks by customer id; null: real time. The test clock of a customer never changes. */
  private readonly testClockIds = new BoundedMap<string, string | null>(MAX_CACHED_CUSTOMERS);

  constructor(
    private readonly payments: PaymentsRepository,
    private readonly discrepancies: DiscrepanciesService,
    private readonly credit: CreditBalanceService,
    private readonly customers: CustomersService,
    private readonly ledger: LedgerService,
    private readonly testClocks: TestClocksService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
  ) {}

  /** @throws {ProblemError} `payment_not_found` if the payment was purged with the test clock of its customer */
  async get(id: string): Promise<Payment> {
    return (await this.payments.find(id)) ?? raise(paymentNotFound(id));
  }

  /** Locks the customer of a payment that the caller has already read, also if the customer is deleted. */
  async lockCustomer(id: string): Promise<void> {
    await this.customers.lockForHistory(id);
  }

  /**
   * Reads a payment and locks its customer, also if the customer is deleted. The payment cannot be purged until the
   * caller's transaction ends.
   * @throws {ProblemError} `payment_not_found` as {@link get}
   */
  async lockCustomerOf(id: string): Promise<Payment> {
    const payment = await this.get(id);
    const customer = await this.customers.lockForHistory(payment.customerId);
    return customer === null ? raise(paymentNotFound(id)) : payment;
  }

  /**
   * Reads a payment and locks its customer, as {@link lockCustomerOf} does, before an outcome is stored. If the payment
   * or its customer is missing, logs the outcome as an error.
   * @throws {ProblemError} `payment_not_found` if the customer is missing, because its test clock was deleted
   * @throws {InvariantError} if only the payment is missing, because the database lost it
   */
  async lockForOutcome(asked: AskedAbout, outcome: ProviderOutcome): Promise<Payment> {
    const { paymentId, customerId } = asked;
    const payment = await this.payments.find(paymentId);
    const customer = await this.customers.lockForHistory(customerId);
    if (payment !== null && customer !== null) return payment;
    this.logUnstored(asked, outcome);
    // One commit purges the customer and the payment.
    invariant(customer === null, `The payment ${paymentId} is gone.`);
    throw paymentNotFound(paymentId);
  }

  /** Logs an outcome that cannot be stored, so that the money that moved can be found at the provider. */
  logUnstored(asked: AskedAbout, outcome: ProviderOutcome): void {
    this.logger.error(
      {
        payment_id: asked.paymentId,
        refund_id: asked.refundId,
        customer_id: asked.customerId,
        provider: asked.provider,
        provider_reference: 'reference' in outcome ? outcome.reference : null,
        outcome: outcome.kind,
      },
      'an outcome was not stored, because its payment or refund is missing',
    );
  }

  /**
   * Locks the customer of a payment, then the payment.
   * @throws {ProblemError} `payment_not_found` as {@link get}
   */
  async lockWithCustomer(id: string): Promise<Payment> {
    await this.lockCustomerOf(id);
    return this.lock(id);
  }

  /** Locks a payment. A payment is locked after its customer and its invoice, and before its refunds. */
  async lock(id: string): Promise<Payment> {
    const payment = await this.payments.lock(id);
    invariant(payment !== null, `The payment ${id} is gone.`);
    return payment;
  }

  /** Stores an outcome of a payment. Records an event if the status changed. */
  async write(before: Payment, after: Payment, now: Date): Promise<void> {
    await this.payments.updateOutcome(after);
    if (after.status === before.status || after.status === 'pending') return;
    await this.outbox.record(PAYMENT_EVENTS[after.status], { after, before, occurredAt: now });
  }

  /**
   * Posts a succeeded payment to the ledger. Adds the part that pays no invoice to the credit balance of the customer.
   * If the invoice was written off, first posts the recovery of the part that pays the invoice.
   * @param invoice the invoice before the payment was applied; null if the payment pays no invoice
   */
  async postSucceeded(
    payment: Payment,
    invoice: Pick<Invoice, 'status'> | null,
    occurredAt: Date,
  ): Promise<void> {
    const { id, customerId, currency, provider, amount, amountApplied } = payment;
    const left = amount - amountApplied;
    const credit = { paymentId: id, customerId, currency, amount: left };
    await this.credit.add({ ...credit, reserved: 0n, refunded: 0n, lost: 0n }, occurredAt);
    const source = { sourceId: id, customerId, occurredAt };
    if (invoice?.status === 'uncollectible') {
      await this.ledger.post(postRecovery(currency, amountApplied), source);
    }
    const posted = { currency, provider, amountMinor: amount, toReceivableMinor: amountApplied };
    await this.ledger.post(postPayment(posted), source);
  }

  async storeAnswer(payment: Payment): Promise<void> {
    await this.idempotency.completeFor(payment.id, paymentAnswer(payment));
  }

  /** Records a discrepancy if the outcome contradicts the final status of the payment. */
  async recordDiscrepancy(before: Payment, outcome: ProviderOutcome): Promise<void> {
    const { id: paymentId, status, providerReference } = before;
    const reported = { paymentId, refundId: null, status, providerReference };
    const discrepancy = discrepancyOf(reported, outcome);
    if (discrepancy !== null) await this.discrepancies.record(discrepancy);
  }

  /**
   * Stores `isDisputed` and `amountLost` of a locked payment, and records `payment.updated`. A no-op if both are
   * unchanged.
   */
  async recordDisputes(
    before: Payment,
    { isDisputed, amountLost }: Pick<Payment, 'isDisputed' | 'amountLost'>,
    now: Date,
  ): Promise<void> {
    if (isDisputed === before.isDisputed && amountLost === before.amountLost) return;
    const after = nextVersion(before, now, { isDisputed, amountLost });
    await this.payments.updateDisputed(after);
    await this.outbox.record(paymentUpdated, { after, before, occurredAt: now });
  }

  /**
   * Returns the time to record for a change of a locked payment: {@link currentTimeOf}, or the last change of the
   * payment if that is later. Without a test clock, the time is also not before the last ledger transaction of the
   * customer.
   */
  async followingTimeOf(payment: Payment): Promise<Date> {
    const { customerId } = payment;
    const testClockId = await this.testClockIdOf(customerId);
    const now = await this.testClocks.timeOn(testClockId);
    // All processes read the same test clock.
    if (testClockId !== null) return changedAt(now, payment);
    const latest = await this.ledger.latestAfter([customerId], now);
    return changedAt(latest.get(customerId) ?? now, payment);
  }

  /**
   * Returns the time of the customer's test clock, or real time if the customer has no test clock. Payments, refunds,
   * disputes and their ledger transactions are dated with this time.
   */
  async currentTimeOf(customerId: string): Promise<Date> {
    return this.testClocks.timeOn(await this.testClockIdOf(customerId));
  }

  private async testClockIdOf(customerId: string): Promise<string | null> {
    let testClockId = this.testClockIds.get(customerId);
    if (testClockId === undefined) {
      const customers = await this.customers.getAllForHistory([customerId]);
      testClockId = customers.get(customerId)?.testClockId ?? null;
      if (customers.has(customerId)) this.testClockIds.set(customerId, testClockId);
    }
    return testClockId;
  }
}
