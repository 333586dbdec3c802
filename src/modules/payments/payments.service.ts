import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { postPayment } from '../../core/ledger';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { CustomersService } from '../customers';
import { LedgerService } from '../ledger';
import { ASKING_LEASE_MS, type Payment, type PaymentOrder, withOutcome } from './domain/payment';
import type { ProviderOutcome } from './domain/payment-provider';
import { paymentMethodNotAccepted, paymentNotFound, paymentNotInSandbox } from './payments.errors';
import { answerAbout, PAYMENT_EVENTS, paymentCreated } from './payments.events';
import { PaymentsRepository } from './payments.repository';
import { ProviderGateway } from './providers/provider-gateway';

/** Takes payments: a pending row, the provider's call outside any transaction, and its outcome. */
@Injectable()
export class PaymentsService {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentsRepository,
    private readonly customers: CustomersService,
    private readonly gateway: ProviderGateway,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
  ) {}

  /**
   * Charges the customer, and fixes its currency whatever comes of the charge. A refusal of the provider is a payment that failed, not an error; an outcome that is not known
   * yet is a payment that is processing.
   * @throws {ProblemError} `payment_method_not_accepted`, `reference_not_found`,
   *   `customer_currency_mismatch`
   */
  async create(order: PaymentOrder): Promise<Payment> {
    if (!this.gateway.accepts(order.provider, order.paymentMethodId)) {
      throw paymentMethodNotAccepted(order.provider);
    }
    const payment = await this.begin(order);
    return this.settle(payment.id, await this.gateway.charge(payment));
  }

  /** @throws {ProblemError} `payment_not_found` */
  async get(id: string): Promise<Payment> {
    const payment = await this.payments.find(id);
    if (payment === null) throw paymentNotFound(id);
    return payment;
  }

  list(customerId: string | null, request: PageRequest): Promise<Page<Payment>> {
    return this.payments.page(customerId, request);
  }

  /** Asks the provider what became of a payment without a final outcome, and makes the charge if it never arrived. */
  async resume(id: string): Promise<Payment> {
    return this.settle(id, await this.gateway.resumeCharge(await this.get(id)));
  }

  /**
   * Lets the sandbox decide a charge it left pending, and settles the payment in the same commit.
   * @param failureCode why it fails; null for a success
   * @throws {ProblemError} `payment_not_found`, `payment_not_in_sandbox`
   */
  settleInSandbox(id: string, failureCode: string | null): Promise<Payment> {
    return this.database.transaction(async () => {
      await this.get(id);
      const outcome = await this.gateway.settleSandboxCharge(id, failureCode);
      if (outcome === null) throw paymentNotInSandbox(id);
      return this.settle(id, outcome);
    });
  }

  /** The first commit: the key's claim, the customer's currency, the pending row and its event. */
  private begin(order: PaymentOrder): Promise<Payment> {
    const now = this.clock.now();
    const payment: Payment = {
      ...order,
      id: newId('pay'),
      version: 1,
      status: 'pending',
      amountRefunded: 0n,
      amountRefundPending: 0n,
      providerReference: null,
      failureCode: null,
      dueAt: new Date(now.getTime() + ASKING_LEASE_MS),
      attempts: 0,
      createdAt: now,
      updatedAt: now,
    };
    return this.database.transaction(async () => {
      await this.idempotency.claimFor(payment.id);
      await this.customers.requireForReference(order.customerId, '/customer_id');
      await this.customers.fixCurrency(order.customerId, order.currency);
      await this.payments.insert(payment);
      await this.outbox.record(paymentCreated, { after: payment, occurredAt: now });
      return payment;
    });
  }

  /** Money that pays no invoice is the customer's credit. */
  private async post({ id, customerId, currency, provider, amount, updatedAt }: Payment) {
    const payment = { currency, provider, amountMinor: amount, toReceivableMinor: 0n };
    const facts = { sourceId: id, customerId, occurredAt: updatedAt };
    await this.ledger.post(postPayment(payment), facts);
  }

  /** The last commit: the outcome, its event, its posting and the answer of the request. Late outcomes change nothing. */
  private settle(id: string, outcome: ProviderOutcome): Promise<Payment> {
    const now = this.clock.now();
    return this.database.transaction(async () => {
      const before = await this.payments.lock(id);
      invariant(before !== null, `The payment ${id} is gone.`);
      const after = withOutcome(before, outcome, now);
      if (after !== before) {
        await this.payments.updateOutcome(after);
        if (after.status !== before.status && after.status !== 'pending') {
          const event = PAYMENT_EVENTS[after.status];
          await this.outbox.record(event, { after, before, occurredAt: now });
        }
        if (after.status === 'succeeded') await this.post(after);
      }
      await this.idempotency.completeFor(id, answerAbout(after));
      return after;
    });
  }
}
