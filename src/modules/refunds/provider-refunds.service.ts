import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { DiscrepanciesService, PaymentRecordsService, type UnrecordedRefund } from '../payments';
import type { Refund } from './domain/refund';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';
import { SettleRefundService } from './settle-refund.service';
import { WaitingRefundsService } from './waiting-refunds.service';

@Injectable()
export class ProviderRefundsService {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsRepository,
    private readonly payments: PaymentRecordsService,
    private readonly ownRefunds: RefundsService,
    private readonly settleRefund: SettleRefundService,
    private readonly waiting: WaitingRefundsService,
    private readonly discrepancies: DiscrepanciesService,
  ) {}

  /**
   * Asks the provider for the state of a refund, and stores the outcome. Returns false if the provider gave no answer
   * and no further poll is planned. Returns null if the refund does not exist, or if its id at the provider is not
   * `reference`. In that case, the reported refund may be another refund with copied metadata.
   * @param reference the provider's id of the reported refund; null: not known
   */
  async resume(id: string, reference: string | null): Promise<boolean | null> {
    if ((await this.refunds.find(id)) === null) return null;
    const isDone = await this.ownRefunds.resume(id, true);
    const stored = (await this.refunds.find(id))?.providerReference;
    return reference === null || stored === reference ? isDone : null;
  }

  /**
   * Stores a report of a provider about a refund of a payment. If this database has the refund, stores only the
   * outcome. If not, the refund was made at the provider, or the database was restored from a backup:
   * - A succeeded or pending refund is stored as pending. It must wait ({@link WaitingRefundsService}) if its payment
   *   has not succeeded, or if too little of the payment is left.
   * - A refund with any other outcome, e.g. a failure, is not stored. If the refund was waiting, the wait ends.
   *
   * @param knownVersion version of the stored refund before the provider was asked; 0: not stored
   * @returns null if no further step is needed. Otherwise, the refund was stored, changed or began to wait after the
   *   provider was asked. The caller must ask again, with the returned number (0: waiting) as `knownVersion`
   */
  record(
    paymentId: string,
    unrecorded: UnrecordedRefund,
    knownVersion: number,
  ): Promise<number | null> {
    const { outcome, reference } = unrecorded;
    return this.database.transaction(async () => {
      const payment = await this.payments.lockWithCustomer(paymentId);
      const known = await this.findKnown(paymentId, unrecorded);
      if (known === null && outcome.kind !== 'succeeded' && outcome.kind !== 'pending') {
        await this.waiting.forget(paymentId, unrecorded);
        return null;
      }
      if (known !== null) {
        const settled = await this.settleRefund.settle(
          { ...known, version: knownVersion, providerReference: reference },
          outcome,
        );
        return settled === null ? known.version : null;
      }
      const now = await this.payments.followingTimeOf(payment);
      return this.waiting.begin(paymentId, unrecorded, now);
    });
  }

  /**
   * Returns the stored refund that a report is about, or null. Searches, in this order:
   * - a refund with the reported id at the provider,
   * - the refund of a discrepancy with that id,
   * - the refund whose id is in the metadata of the report, unless a discrepancy names this refund.
   *
   * In the last two cases, the refund must have no id at the provider yet, and the payment and amount of the report.
   * Otherwise the metadata may be a copy from another refund.
   */
  private async findKnown(
    paymentId: string,
    { reference, refundId, amount }: UnrecordedRefund,
  ): Promise<Refund | null> {
    const stored = await this.refunds.findByReference(paymentId, reference);
    if (stored !== null) return stored;
    const reports = await this.discrepancies.refundReportsOf(paymentId);
    const contradicted = reports.find((report) => report.reference === reference)?.refundId;
    const isOther = reports.some((report) => report.refundId === refundId);
    const id = contradicted ?? (isOther ? null : refundId);
    const refund = id === null ? null : await this.refunds.find(id);
    const isSame =
      refund?.paymentId === paymentId &&
      refund.providerReference === null &&
      refund.amount === amount;
    return isSame ? refund : null;
  }
}
