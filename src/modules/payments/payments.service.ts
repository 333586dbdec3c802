import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { referenceNotFound } from '../../platform/errors';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { ProcessSession } from '../../platform/processes';
import { CustomersService } from '../customers';
import { InvoicePaymentsService } from '../invoicing';
import { TestClocksService } from '../test-clocks';
import {
  pollLease,
  type MethodChoice,
  newPayment,
  type Payment,
  type PaymentFilter,
  type NewPayment,
  type PaymentRequest,
} from './domain/payment';
import { PaymentMethodsService } from './methods/payment-methods.service';
import { PaymentOutcomesService } from './payment-outcomes.service';
import { paymentContradictsInvoice, paymentNotFound, paymentNotInSandbox } from './payments.errors';
import { paymentCreated } from './payments.events';
import { PaymentsRepository } from './payments.repository';
import { ProviderGateway } from './providers/provider-gateway';

/** A payment that is to be taken up, and when that is on the customer's clock. */
interface Taken {
  readonly order: NewPayment;
  readonly now: Date;
}

/** Takes payments: a pending row, the provider's call outside any transaction, and its outcome. */
@Injectable()
export class PaymentsService {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentsRepository,
    private readonly outcomes: PaymentOutcomesService,
    private readonly methods: PaymentMethodsService,
    private readonly invoices: InvoicePaymentsService,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly gateway: ProviderGateway,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly session: ProcessSession,
  ) {}

  /**
   * Charges the customer, and fixes its currency whatever comes of the charge. A refusal of the provider is a payment that
   * failed, not an error; an outcome that is not known yet is a payment that is processing. With an invoice it pays that
   * one, wholly or in part.
   * @throws {ProblemError} `payment_method_not_accepted`, `payment_method_required`, `payment_provider_not_enabled`,
   *   `reference_not_found`, `customer_currency_mismatch`; with an invoice also `payment_contradicts_invoice`, `invoice_not_payable`, `invoice_payment_pending`,
   *   `payment_exceeds_invoice`, `test_clock_advancing`, `test_clock_failed`
   */
  create(request: PaymentRequest): Promise<Payment> {
    return this.charge(async () => {
      const { id, testClockId } = await this.customers.requireForReference(
        request.customerId,
        '/customer_id',
      );
      const fallback = request.invoiceId === null ? 'sandbox' : null;
      const method = await this.methods.choose(id, request, fallback);
      await this.customers.fixCurrency(id, request.currency);
      const order = { ...request, ...method, collectionAttempt: null };
      if (request.invoiceId === null) return { order, now: this.clock.now() };
      const now = await this.testClocks.nowFor(testClockId);
      const invoice = await this.invoices.find(request.invoiceId);
      if (invoice === null) throw referenceNotFound('/invoice_id', request.invoiceId);
      if (invoice.customerId !== id) throw paymentContradictsInvoice(invoice.id);
      await this.invoices.reserve(invoice.id, request.amount, now);
      return { order, now };
    });
  }

  /**
   * Pays all that remains of an invoice; of any number of calls at once, one charges.
   * @throws {ProblemError} `invoice_not_found`, `payment_method_not_accepted`, `payment_method_required`,
   *   `payment_provider_not_enabled`, `reference_not_found`, `invoice_not_payable`, `invoice_payment_pending`, `test_clock_advancing`, `test_clock_failed`
   */
  payInvoice(invoiceId: string, choice: MethodChoice): Promise<Payment> {
    return this.charge(async () => {
      const { customerId, currency } = await this.invoices.get(invoiceId);
      const customer = await this.customers.requireForReference(customerId, '/customer_id');
      const now = await this.testClocks.nowFor(customer.testClockId);
      const amount = await this.invoices.reserve(invoiceId, null, now);
      const method = await this.methods.choose(customerId, choice);
      const order = { ...method, customerId, invoiceId, collectionAttempt: null, amount, currency };
      return { order: { ...order, metadata: {} }, now };
    });
  }

  /** @throws {ProblemError} `payment_not_found` */
  async get(id: string): Promise<Payment> {
    const payment = await this.payments.find(id);
    if (payment === null) throw paymentNotFound(id);
    return payment;
  }

  list(filter: PaymentFilter, request: PageRequest): Promise<Page<Payment>> {
    return this.payments.page(filter, request);
  }

  /** Asks the provider what became of a payment without a final outcome, and makes the charge if it never arrived. */
  async resume(id: string): Promise<Payment> {
    const payment = await this.get(id);
    return this.outcomes.settle(payment, await this.gateway.resumeCharge(payment));
  }

  /**
   * Lets the sandbox decide a charge it left pending, and settles the payment in the same commit.
   * @param failureCode why it fails; null for a success
   * @throws {ProblemError} `payment_not_found`, `payment_not_in_sandbox`
   */
  settleInSandbox(id: string, failureCode: string | null): Promise<Payment> {
    return this.database.transaction(async () => {
      const payment = await this.get(id);
      const outcome = await this.gateway.settleSandboxCharge(id, failureCode);
      if (outcome === null) throw paymentNotInSandbox(id);
      return this.outcomes.settle(payment, outcome);
    });
  }

  /** The first commit (the key's claim, what the payment is for, the pending row and its event), then the call. */
  private async charge(take: () => Promise<Taken>): Promise<Payment> {
    const id = newId('pay');
    const payment = await this.database.transaction(async () => {
      const lease = pollLease(this.clock.now(), this.session.number);
      await this.idempotency.claimFor(id, lease);
      const { order, now } = await take();
      return this.begin(newPayment(id, order, now, lease));
    });
    return this.outcomes.settle(payment, await this.gateway.charge(payment));
  }

  private async begin(payment: Payment): Promise<Payment> {
    await this.payments.insert(payment);
    await this.outbox.record(paymentCreated, { after: payment, occurredAt: payment.createdAt });
    return payment;
  }
}
