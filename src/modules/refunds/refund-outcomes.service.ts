import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { postRefund, postRefundReturned } from '../../core/ledger';
import { Outbox } from '../../platform/outbox';
import { LedgerService } from '../ledger';
import { type Payment, PaymentRefundsService } from '../payments';
import type { Refund } from './domain/refund';
import { REFUND_EVENTS } from './refunds.events';
import { WaitingRefundsService } from './waiting-refunds.service';

/** Applies outcomes of refunds. Callers must have locked the payment and the refund in the same transaction. */
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
   * and records the event. A refund that failed or was canceled leaves more of the payment to refund. Therefore,
   * refunds that waited for this ({@link WaitingRefundsService}) are then stored.
   * @param now time of the change. `after.updatedAt` may be later: it never goes back, even if a wrong clock set it
   */
  async apply(before: Refund, after: Refund, payment: Payment, now: Date): Promise<void> {
    invariant(after.status !== 'pending', `The refund ${after.id} went back to pending.`);
    if (after.status === 'succeeded') {
      const { id, amount } = after;
      const fromCreditMinor = await this.payments.markRefunded(id, payment, amount, now);
      await this.post(before, after, payment, fromCreditMinor, now);
    } else if (before.status === 'succeeded') {
      const parts = await this.payments.markReturned(after.id, payment, after.amount, now);
      await this.postReturned(after, payment, parts, now);
    } else {
      await this.payments.releaseReserve(after.id, payment, after.amount, now);
    }
    await this.outbox.record(REFUND_EVENTS[after.status], { after, before, occurredAt: now });
    if (after.status !== 'succeeded') await this.waiting.beginAll(payment, now);
  }

  private async post(
    before: Refund,
    { id, version, currency, amount }: Refund,
    { provider, customerId }: Payment,
    fromCreditMinor: bigint,
    occurredAt: Date,
  ): Promise<void> {
    const refund = { currency, provider, amountMinor: amount, fromCreditMinor };
    // A refund that succeeds after it failed may have succeeded before, and may be returned again.
    const sourceVersion = before.status === 'pending' ? 0 : version;
    const source = { sourceId: id, sourceVersion, customerId, occurredAt };
    await this.ledger.post(postRefund(refund), source);
  }

  private async postReturned(
    { id, version: sourceVersion, currency, amount }: Refund,
    { provider, customerId }: Payment,
    parts: { readonly toCreditMinor: bigint; readonly recoveredMinor: bigint },
    occurredAt: Date,
  ): Promise<void> {
    const returned = { currency, provider, amountMinor: amount, ...parts };
    const source = { sourceId: id, sourceVersion, customerId, occurredAt };
    await this.ledger.post(postRefundReturned(returned), source);
  }
}
