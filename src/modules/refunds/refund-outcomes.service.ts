import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { postRefund, postRefundReturned } from '../../core/ledger';
import { Outbox } from '../../platform/outbox';
import { LedgerService } from '../ledger';
import { type Payment, PaymentRefundsService } from '../payments';
import type { Refund } from './domain/refund';
import { REFUND_EVENTS } from './refunds.events';
import { WaitingRefundsService } from './waiting-refunds.service';

/** Callers must have locked the payment and the refund in the same transaction. */
@Injectable()
export class RefundOutcomesService {
  constructor(
    private readonly payments: PaymentRefundsService,
    private readonly waiting: WaitingRefundsService,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Applies a new status of a refund: updates the refunded and reserved amounts of the payment, posts to the ledger,
   * and records the event. If a part of the payment becomes refundable again, stores the refunds that waited for this
   * ({@link WaitingRefundsService}).
   */
  async apply(before: Refund, after: Refund, payment: Payment): Promise<void> {
    invariant(after.status !== 'pending', `The refund ${after.id} went back to pending.`);
    if (after.status === 'succeeded') {
      const fromCreditMinor = await this.payments.markRefunded(
        after.id,
        payment,
        after.amount,
        after.updatedAt,
      );
      await this.post(before, after, payment, fromCreditMinor);
    } else if (before.status === 'succeeded') {
      const { id, amount, updatedAt } = after;
      const parts = await this.payments.markReturned(id, payment, amount, updatedAt);
      await this.postReturned(after, payment, parts);
    } else {
      await this.payments.releaseReserve(after.id, payment, after.amount, after.updatedAt);
    }
    await this.outbox.record(REFUND_EVENTS[after.status], {
      after,
      before,
      occurredAt: after.updatedAt,
    });
    if (after.status !== 'succeeded') await this.waiting.beginAll(payment, after.updatedAt);
  }

  private async post(
    before: Refund,
    { id, version, currency, amount, updatedAt }: Refund,
    { provider, customerId }: Payment,
    fromCreditMinor: bigint,
  ): Promise<void> {
    const refund = { currency, provider, amountMinor: amount, fromCreditMinor };
    // A refund that succeeds after it failed may have succeeded before, and may be returned again.
    const sourceVersion = before.status === 'pending' ? 0 : version;
    const source = { sourceId: id, sourceVersion, customerId, occurredAt: updatedAt };
    await this.ledger.post(postRefund(refund), source);
  }

  private async postReturned(
    { id, version: sourceVersion, currency, amount, updatedAt }: Refund,
    { provider, customerId }: Payment,
    parts: { readonly toCreditMinor: bigint; readonly recoveredMinor: bigint },
  ): Promise<void> {
    const returned = { currency, provider, amountMinor: amount, ...parts };
    const source = { sourceId: id, sourceVersion, customerId, occurredAt: updatedAt };
    await this.ledger.post(postRefundReturned(returned), source);
  }
}
