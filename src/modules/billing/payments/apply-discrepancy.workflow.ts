import { Injectable } from '@nestjs/common';
import {
  DiscrepanciesService,
  type Discrepancy,
  discrepancyNotApplicable,
  isApplicable,
  LostCreditService,
  PaymentRecordsService,
  paymentProviderUnavailable,
  ProviderGateway,
} from '../../payments';
import { SettleRefundService, WaitingRefundsService } from '../../refunds';
import { SettlePaymentWorkflow } from './settle-payment.workflow';

/**
 * Books a failed or canceled payment or refund as succeeded, because the provider reported its success later. Steps 2
 * to 6 are one commit.
 *
 * 1. Reads a refund from the provider, outside any transaction, because a bank may have returned it since the report. A
 *    payment is not read: once it has succeeded, its status is final at the provider too.
 * 2. Claims the idempotency key, and locks the customer of the payment, then the discrepancy. For a refund, locks the
 *    payment and the others of its invoice before the discrepancy, as when the outcome of a refund is recorded.
 * 3. Changes the payment or refund to succeeded, and does all that follows from a success, such as ledger postings.
 * 4. If the payment has already lost money in a dispute, covers the loss with credit that came from the payment.
 * 5. Stores refunds that were made at the provider while the payment was still failed or canceled here. Otherwise an
 *    invoice could use the refunded money as credit.
 * 6. Marks the discrepancy as applied, and stores the answer to the request.
 */
@Injectable()
export class ApplyDiscrepancyWorkflow {
  constructor(
    private readonly discrepancies: DiscrepanciesService,
    private readonly payments: PaymentRecordsService,
    private readonly settlePayment: SettlePaymentWorkflow,
    private readonly settleRefund: SettleRefundService,
    private readonly waitingRefunds: WaitingRefundsService,
    private readonly losses: LostCreditService,
    private readonly gateway: ProviderGateway,
  ) {}

  /**
   * Applies an open discrepancy. A no-op if it is applied already.
   * @throws {ProblemError} `provider_discrepancy_not_found`, `provider_discrepancy_not_applicable`,
   *   `invalid_transition`. For a refund also `payment_provider_unavailable`, and `refund_amount_exceeds_refundable` if
   *   the refunded money was given back in another way meanwhile
   */
  async apply(id: string): Promise<Discrepancy> {
    await this.requireSucceededRefund(await this.discrepancies.get(id));
    return this.discrepancies.applyOnce(id, async () => {
      const { paymentId, refundId } = await this.discrepancies.get(id);
      const { invoiceId } = await this.payments.lockCustomerOf(paymentId);
      if (refundId !== null) await this.losses.lockForRefund(paymentId, invoiceId);
      const discrepancy = await this.discrepancies.lockFor(id, 'applied');
      if (discrepancy.status === 'applied') return discrepancy;
      const { providerReference } = discrepancy;
      if (!isApplicable(discrepancy) || providerReference === null) {
        throw discrepancyNotApplicable(discrepancy);
      }
      if (refundId === null) await this.correctPayment(paymentId, providerReference);
      else await this.settleRefund.correct(refundId, providerReference, discrepancy);
      return this.discrepancies.resolve(discrepancy, 'applied');
    });
  }

  private async requireSucceededRefund(discrepancy: Discrepancy): Promise<void> {
    const { status, paymentId, refundId, providerReference } = discrepancy;
    if (status !== 'open' || refundId === null || providerReference === null) return;
    const { provider } = await this.payments.get(paymentId);
    const { kind } = await this.gateway.readSucceededRefund(provider, providerReference);
    if (kind === 'failed' || kind === 'canceled') {
      throw discrepancyNotApplicable(discrepancy, { presentStatus: kind });
    }
    if (kind !== 'succeeded') throw paymentProviderUnavailable(provider);
  }

  private async correctPayment(id: string, reference: string): Promise<void> {
    const { payment, now } = await this.settlePayment.correct(id, reference);
    await this.losses.coverLosses([payment], { sourceId: id, occurredAt: now });
    await this.waitingRefunds.beginAll(payment, now);
  }
}
