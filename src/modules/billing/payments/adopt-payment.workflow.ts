import { Injectable, Logger } from '@nestjs/common';
import { changedAt } from '../../../core/next-version';
import { Database } from '../../../platform/database';
import { ProblemError } from '../../../platform/errors';
import { customerCurrencyMismatch, customerNotFound, CustomersService } from '../../customers';
import { type Invoice, InvoicePaymentsService, mayInvoiceBecome } from '../../invoicing';
import {
  type ApplyResult,
  type UnrecordedCharge,
  PaymentsRepository,
  PaymentStartsService,
  ProviderGateway,
  type ProviderName,
  type StartedLease,
} from '../../payments';
import { testClockFailed, testClockNotFound } from '../../test-clocks';
import { BillingLocks } from '../billing-locks';
import { SettlePaymentWorkflow } from './settle-payment.workflow';

/**
 * Errors that every retry would cause again. The customer is deleted or pays in another currency, or the test clock of
 * the customer is deleted or has failed.
 */
const FINAL_PROBLEMS: ReadonlySet<unknown> = new Set(
  [customerCurrencyMismatch, customerNotFound, testClockFailed, testClockNotFound].map(
    ({ definition }) => definition,
  ),
);

/**
 * Records payments that exist at the provider but not in the database, because the database was restored from a backup.
 *
 * 1. Reads the charge from the provider, outside any transaction. Ignores a charge that moves no money.
 * 2. Locks the customer, the subscription and the invoice of the charge. If the charge is pending and the invoice can
 *    be paid, reserves the amount of the charge on the invoice. This amount can exceed the unpaid amount.
 * 3. Writes the payment with its former id, and settles it (`SettlePaymentWorkflow`), in the same commit. If the charge
 *    succeeded, the part of its money that the invoice does not need becomes credit of the customer.
 */
@Injectable()
export class AdoptPaymentWorkflow {
  private readonly logger = new Logger('adopt-payment');

  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly locks: BillingLocks,
    private readonly invoices: InvoicePaymentsService,
    private readonly payments: PaymentsRepository,
    private readonly starts: PaymentStartsService,
    private readonly gateway: ProviderGateway,
    private readonly settlePayment: SettlePaymentWorkflow,
  ) {}

  /**
   * Records the payment of a charge that the provider has and the database lacks. Returns
   * - `missing` if the provider has no such charge;
   * - false if the provider did not answer;
   * - true otherwise, even if nothing was recorded.
   *
   * Records nothing if the customer is deleted, purged, or pays in another currency, or if the customer's test clock
   * was deleted or has failed. A reconciliation then reports the charge as a difference.
   * @param reference the provider's id of the charge
   * @throws {ProblemError} `test_clock_advancing`
   */
  async adopt(provider: ProviderName, reference: string): Promise<ApplyResult> {
    const found = await this.gateway.readUnrecordedCharge(provider, reference);
    if (found.kind === 'charge') await this.recordIfPossible(provider, found.charge);
    return found.kind === 'missing' ? 'missing' : found.kind !== 'unknown';
  }

  private async recordIfPossible(provider: ProviderName, charge: UnrecordedCharge): Promise<void> {
    const lease = await this.starts.lease();
    try {
      await this.database.transaction(() => this.record(provider, charge, lease));
    } catch (error) {
      if (!(error instanceof ProblemError) || !FINAL_PROBLEMS.has(error.definition)) throw error;
      const { paymentId: payment_id, reference } = charge;
      this.logger.warn({ payment_id, reference, err: error }, 'a charge is not adopted');
    }
  }

  private async record(
    provider: ProviderName,
    charge: UnrecordedCharge,
    { lease }: StartedLease,
  ): Promise<void> {
    const { paymentId, customerId, amount, currency } = charge;
    const locked = await this.locks.lockCustomer(customerId);
    if (locked === null) {
      const message = 'a charge is not adopted: neither its payment nor its customer is known';
      this.logger.warn({ payment_id: paymentId, reference: charge.reference }, message);
      return;
    }
    const { now } = locked;
    if (!(await this.payments.lockMissing(paymentId))) return;
    await this.customers.fixCurrency(customerId, currency);
    const isReserved = charge.outcome.kind === 'pending';
    const invoice = await this.lockInvoice(charge, isReserved, now);
    const invoiceId = invoice?.id ?? null;
    const fields = {
      customerId,
      invoiceId,
      amount,
      currency,
      provider,
      providerToken: charge.token,
    };
    const payment = await this.starts.adopt(charge, lease, fields, changedAt(now, invoice));
    await this.settlePayment.settle(payment, charge.outcome, isReserved);
    this.logger.warn({ payment_id: paymentId, invoice_id: invoiceId }, 'a payment was adopted');
  }

  /**
   * Locks and returns the invoice of a charge. If the charge is pending, reserves the amount of the charge on the
   * invoice. Returns null in the following cases. The money of the charge then becomes credit.
   * - The charge has no invoice.
   * - The invoice cannot be paid.
   * - The customer or the currency of the invoice is not that of the charge.
   */
  private async lockInvoice(
    { invoiceId, customerId, amount, currency }: UnrecordedCharge,
    isReserved: boolean,
    now: Date,
  ): Promise<Invoice | null> {
    const found = invoiceId === null ? null : await this.invoices.find(invoiceId);
    if (found?.customerId !== customerId || found.currency !== currency) return null;
    await this.locks.lockSubscription(found.subscriptionId);
    const invoice = await this.invoices.lock(found.id);
    if (!mayInvoiceBecome(invoice, 'paid')) return null;
    if (isReserved) await this.invoices.reserveForSentCharge(invoice, amount, now);
    return invoice;
  }
}
