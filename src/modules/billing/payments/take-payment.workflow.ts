import { Injectable } from '@nestjs/common';
import type { VersionCondition } from '../../../platform/database';
import { referenceNotFound, raise } from '../../../platform/errors';
import { type HeldLease, ReturnedLeases } from '../../../platform/processes';
import { CustomersService } from '../../customers';
import { invoiceNotFound, InvoicePaymentsService } from '../../invoicing';
import {
  type MethodChoice,
  type Payment,
  paymentContradictsInvoice,
  PaymentMethodsService,
  type PaymentRequest,
  PaymentStartsService,
  ProviderGateway,
} from '../../payments';
import { TestClocksService } from '../../test-clocks';
import { leaseOf } from './payment-lease';
import { SettlePaymentWorkflow } from './settle-payment.workflow';

/**
 * Takes payments by request, in two commits with the call to the provider between them.
 *
 * 1. First commit: claims the idempotency key, locks the customer and chooses the payment method. Then locks the
 *    invoice, reserves the amount and writes the pending payment.
 * 2. Charges the payment at its provider, outside any transaction. Some providers first prepare a charge and then
 *    confirm it. The reference of a prepared charge is committed before the confirmation.
 * 3. Second commit: settles the payment (`SettlePaymentWorkflow`).
 */
@Injectable()
export class TakePaymentWorkflow {
  constructor(
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly methods: PaymentMethodsService,
    private readonly invoices: InvoicePaymentsService,
    private readonly starts: PaymentStartsService,
    private readonly gateway: ProviderGateway,
    private readonly settlePayment: SettlePaymentWorkflow,
    private readonly leases: ReturnedLeases,
  ) {}

  /**
   * Charges the customer, for an invoice or as a prepayment. A customer without a currency gets the currency of the
   * charge permanently, even if the charge then fails. If the provider refuses the charge, the payment fails and no
   * error is thrown. If the outcome is unknown, the payment is `processing`.
   * @throws {ProblemError} `payment_method_not_accepted`, `payment_method_required`, `payment_provider_not_enabled`,
   *   `reference_not_found`, `customer_currency_mismatch`; with an invoice also `payment_contradicts_invoice`,
   *   `invoice_not_payable`, `invoice_payment_pending`, `payment_exceeds_invoice`, `test_clock_advancing`,
   *   `test_clock_failed`; `payment_not_found` or `test_clock_not_found` as {@link SettlePaymentWorkflow.settle}
   */
  async take(request: PaymentRequest): Promise<Payment> {
    const started = await this.starts.start();
    const payment = await this.leases.begin(async () => {
      await this.starts.claimKey(started);
      const { customerId, invoiceId, amount, currency } = request;
      const customer = await this.customers.requireForReference(customerId, '/customer_id');
      const fallback = invoiceId === null ? 'sandbox' : null;
      const method = await this.methods.choose(customerId, request, fallback);
      await this.customers.fixCurrency(customerId, currency);
      const fields = { ...request, ...method, collectionAttempt: null };
      if (invoiceId === null) {
        const now = await this.testClocks.timeOn(customer.testClockId);
        return this.starts.insert(started, fields, now);
      }
      const now = await this.testClocks.nowFor(customer.testClockId);
      const notFound = referenceNotFound('/invoice_id', invoiceId);
      const invoice = (await this.invoices.find(invoiceId)) ?? raise(notFound);
      if (invoice.customerId !== customerId) throw paymentContradictsInvoice(invoiceId);
      const reserved = await this.invoices.reserve(invoiceId, amount, now);
      if (reserved === null) throw notFound;
      return this.starts.insert(started, fields, reserved.at);
    }, leaseOfOne);
    return this.charge(payment);
  }

  /**
   * Pays the whole unpaid amount of an invoice. Of concurrent calls for one invoice, only one makes a charge.
   * @throws {ProblemError} `invoice_not_found`, `precondition_failed`, `payment_method_not_accepted`,
   *   `payment_method_required`, `payment_provider_not_enabled`, `reference_not_found`, `invoice_not_payable`,
   *   `invoice_payment_pending`, `test_clock_advancing`, `test_clock_failed`; `payment_not_found` or
   *   `test_clock_not_found` as {@link SettlePaymentWorkflow.settle}
   */
  async payInvoice(
    invoiceId: string,
    choice: MethodChoice,
    expected: VersionCondition,
  ): Promise<Payment> {
    const started = await this.starts.start();
    const payment = await this.leases.begin(async () => {
      await this.starts.claimKey(started);
      const { customerId, currency } = await this.invoices.get(invoiceId);
      const customer = await this.customers.requireForReference(customerId, '/customer_id');
      const now = await this.testClocks.nowFor(customer.testClockId);
      const { amount, at } =
        (await this.invoices.reserve(invoiceId, null, now, expected)) ??
        raise(invoiceNotFound(invoiceId));
      const method = await this.methods.choose(customerId, choice);
      const fields = {
        ...method,
        customerId,
        invoiceId,
        collectionAttempt: null,
        amount,
        currency,
      };
      return this.starts.insert(started, { ...fields, metadata: {} }, at);
    }, leaseOfOne);
    return this.charge(payment);
  }

  private charge(payment: Payment): Promise<Payment> {
    return this.leases.finish(leaseOfOne(payment), async () =>
      this.settlePayment.settle(payment, await this.gateway.charge(payment)),
    );
  }
}

const leaseOfOne = (payment: Payment): HeldLease => leaseOf([payment]);
