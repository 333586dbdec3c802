import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import {
  DiscrepanciesService,
  type Discrepancy,
  discrepancyNotApplicable,
  isApplicable,
  LostCreditService,
  PaymentRecordsService,
} from '../../payments';
import { SettleRefundService, WaitingRefundsService } from '../../refunds';
import { SettlePaymentWorkflow } from './settle-payment.workflow';

/**
 * Books a failed or canceled payment or refund as succeeded, because the provider reported its success later. All steps
 * are one commit.
 *
 * 1. Locks the customer of the payment, then the discrepancy.
 * 2. Changes the payment or refund to succeeded, and does all that follows from a success, such as ledger postings.
 * 3. If the payment has already lost money in a dispute, covers the loss with credit that came from the payment.
 * 4. Stores refunds that were made at the provider while the payment was still failed or canceled here, so that no
 *    invoice uses the refunded money as credit.
 * 5. Marks the discrepancy as applied.
 */
@Injectable()
export class ApplyDiscrepancyWorkflow {
  constructor(
    private readonly database: Database,
    private readonly discrepancies: DiscrepanciesService,
    private readonly payments: PaymentRecordsService,
    private readonly settlePayment: SettlePaymentWorkflow,
    private readonly settleRefund: SettleRefundService,
    private readonly waitingRefunds: WaitingRefundsService,
    private readonly losses: LostCreditService,
  ) {}

  /**
   * Applies an open discrepancy. A no-op if it is applied already.
   * @throws {ProblemError} `provider_discrepancy_not_found`, `provider_discrepancy_not_applicable`,
   *   `invalid_transition`; for a refund also `refund_amount_exceeds_refundable`, if its money was given back in
   *   another way meanwhile
   */
  apply(id: string): Promise<Discrepancy> {
    return this.database.transaction(async () => {
      const found = await this.discrepancies.get(id);
      await this.payments.lockCustomerOf(found.paymentId);
      const discrepancy = await this.discrepancies.lockFor(id, 'applied');
      if (discrepancy.status === 'applied') return discrepancy;
      const { paymentId, refundId, providerReference } = discrepancy;
      if (!isApplicable(discrepancy) || providerReference === null) {
        throw discrepancyNotApplicable(discrepancy);
      }
      if (refundId === null) await this.correctPayment(paymentId, providerReference);
      else await this.settleRefund.correct(refundId, providerReference, discrepancy);
      return this.discrepancies.resolve(discrepancy, 'applied');
    });
  }

  private async correctPayment(id: string, reference: string): Promise<void> {
    const { payment, now } = await this.settlePayment.correct(id, reference);
    await this.losses.coverLosses([payment], { sourceId: id, occurredAt: now });
    await this.waitingRefunds.beginAll(payment, now);
  }
}
