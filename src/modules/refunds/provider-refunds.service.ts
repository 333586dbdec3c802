import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { PaymentRecordsService, type UnrecordedRefund } from '../payments';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';
import { SettleRefundService } from './settle-refund.service';
import { WaitingRefundsService } from './waiting-refunds.service';

/** Stores what providers report about refunds. */
@Injectable()
export class ProviderRefundsService {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly payments: PaymentRecordsService,
    private readonly ownRefunds: RefundsService,
    private readonly settleRefund: SettleRefundService,
    private readonly waiting: WaitingRefundsService,
  ) {}

  /**
   * Asks the provider for the state of a refund, and stores the outcome. Returns false if the provider gave no answer
   * and no further poll is planned; null if the refund does not exist.
   */
  async resume(id: string): Promise<boolean | null> {
    return (await this.refunds.find(id)) === null ? null : this.ownRefunds.resume(id);
  }

  /**
   * Stores what a provider reported about a refund. If this database has the refund, stores only the outcome.
   * Otherwise, the refund was made at the provider, or the database is a restored backup:
   * - If the refund has succeeded or is pending, stores it with its outcome. The refund waits instead
   *   ({@link WaitingRefundsService}) if its payment has not succeeded, or if too little of the payment is left.
   * - For any other outcome, does not store the refund. If the refund was waiting, ends the wait.
   */
  record(paymentId: string, unrecorded: UnrecordedRefund): Promise<void> {
    const { reference, refundId, outcome } = unrecorded;
    return this.database.transaction(async () => {
      const payment = await this.payments.lock(paymentId);
      const known =
        refundId === null
          ? await this.refunds.findMadeAtProvider(paymentId, reference)
          : await this.refunds.find(refundId);
      if (known === null && outcome.kind !== 'succeeded' && outcome.kind !== 'pending') {
        await this.waiting.forget(paymentId, unrecorded);
        return;
      }
      const now = await this.payments.followingTimeOf(payment);
      const refund = known ?? (await this.waiting.begin(paymentId, unrecorded, now));
      if (refund !== null) await this.settleRefund.settle(refund, outcome);
    });
  }
}
