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
   * `reference`: then somebody may have copied its metadata.
   * @param reference the provider's id of the reported refund; null: not known
   */
  async resume(id: string, reference: string | null): Promise<boolean | null> {
    if ((await this.refunds.find(id)) === null) return null;
    const isDone = await this.ownRefunds.resume(id, true);
    const stored = (await this.refunds.find(id))?.providerReference;
    return reference === null || stored === reference ? isDone : null;
  }

  /**
   * Stores what a provider reported about a refund of a payment. If this database has the refund, stores only the
   * outcome. Otherwise, the refund was made at the provider, or the database was restored from a backup:
   * - If the refund has succeeded or is pending, stores it as pending. It must wait ({@link WaitingRefundsService}) if its
   *   payment has not succeeded, or if too little of the payment is left.
   * - For any other outcome, does not store the refund. If it was waiting, ends the wait.
   *
   * @param knownVersion version of the refund here before the provider was asked; 0: not known
   * @returns null if the report is stored. Otherwise, the provider was asked before the refund was stored or changed here,
   *   or began to wait, and the version of the refund is returned (0 if it waits): the caller must ask the provider again
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
   * Returns the reported refund if this database has it, otherwise null. Finds it by its id at the provider, which is
   * stored with the refund or with a discrepancy of it. Otherwise finds it by our id in the metadata, but only if the
   * stored refund has no id at the provider yet, and the same payment and amount. If not, somebody copied the metadata.
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
