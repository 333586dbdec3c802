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
   * and no further poll is planned; null if the refund does not exist, or has another id at the provider.
   * @param reference the provider's id of the reported refund; null: not known
   */
  async resume(id: string, reference: string | null): Promise<boolean | null> {
    if ((await this.refunds.find(id)) === null) return null;
    const isDone = await this.ownRefunds.resume(id);
    const stored = (await this.refunds.find(id))?.providerReference ?? reference;
    return reference === null || stored === reference ? isDone : null;
  }

  /**
   * Stores what a provider reported about a refund. If this database has the refund, stores only the outcome. A refund
   * whose metadata name one with another id at the provider is not that one: somebody has copied the metadata.
   * Otherwise, the refund was made at the provider, or the database is a restored backup:
   * - If the refund has succeeded or is pending, stores it with its outcome. The refund waits instead
   *   ({@link WaitingRefundsService}) if its payment has not succeeded, or if too little of the payment is left.
   * - For any other outcome, does not store the refund. If the refund was waiting, ends the wait.
   */
  record(paymentId: string, unrecorded: UnrecordedRefund): Promise<void> {
    const { reference, refundId, outcome } = unrecorded;
    return this.database.transaction(async () => {
      const payment = await this.payments.lock(paymentId);
      const named = refundId === null ? null : await this.refunds.find(refundId);
      const isUnanswered = named?.paymentId === paymentId && named.providerReference === null;
      const known =
        (await this.refunds.findByReference(paymentId, reference)) ?? (isUnanswered ? named : null);
      if (known === null && outcome.kind !== 'succeeded' && outcome.kind !== 'pending') {
        await this.waiting.forget(paymentId, unrecorded);
        return;
      }
      const missing = named === null ? unrecorded : { ...unrecorded, refundId: null };
      const now = await this.payments.followingTimeOf(payment);
      const refund = known ?? (await this.waiting.begin(paymentId, missing, now));
      if (refund !== null) await this.settleRefund.settle(refund, outcome);
    });
  }
}
