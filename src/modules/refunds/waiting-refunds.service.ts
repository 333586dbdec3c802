import { Injectable } from '@nestjs/common';
import { currentActor } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { type Payment, PaymentRefundsService } from '../payments';
import { newRefund } from './domain/refund';
import { refundCreated } from './refunds.events';
import { RefundsRepository } from './refunds.repository';
import { type ReportedRefund, WaitingRefundsRepository } from './waiting-refunds.repository';

/**
 * One day, in which reconciliations ignore a waiting refund. Providers are polled about pending refunds within hours,
 * and their outcome may end the wait.
 */
const AWAITED_MS = 86_400_000;

/**
 * Stores refunds that a provider reported and that are missing here, as pending refunds. A refund must wait while its
 * payment has not succeeded, or while too little of the payment is left. It is tried again when another refund of the
 * payment fails, is canceled or is returned, or when the payment is corrected to succeeded. The commit of that change
 * also stores the waiting refund. So no invoice can use credit that the provider has already paid out.
 *
 * Callers must have locked the payment in the same transaction.
 */
@Injectable()
export class WaitingRefundsService {
  constructor(
    private readonly refunds: RefundsRepository,
    private readonly waiting: WaitingRefundsRepository,
    private readonly payments: PaymentRefundsService,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Reserves the amount of a refund on its payment, and stores the pending refund and its event. The provider is then
   * polled for the outcome. The refund must wait if the payment has not succeeded or too little of it is left.
   * @param now time on the clock of the customer
   * @returns version of the stored refund; 0: the refund waits from now on; null: it was waiting already
   */
  async begin(paymentId: string, reported: ReportedRefund, now: Date): Promise<number | null> {
    const { reference, refundId, amount, reason } = reported;
    const realNow = this.clock.now();
    const payment = await this.payments.reserveForProviderRefund(paymentId, amount, now);
    if (payment === null) {
      return (await this.waiting.insertIfNew(paymentId, reported, realNow)) ? 0 : null;
    }
    const isFree = refundId !== null && (await this.refunds.find(refundId)) === null;
    const refund = newRefund(
      {
        id: isFree ? refundId : newId('ref'),
        paymentId,
        customerId: payment.customerId,
        amount,
        currency: payment.currency,
        reason,
        source: 'provider',
        creditNoteId: null,
        actor: currentActor(),
        idempotencyKey: null,
        providerReference: reference,
        metadata: {},
        sentAt: realNow,
        dueAt: realNow,
        leasedBy: null,
      },
      now,
    );
    await this.refunds.insert(refund);
    await this.outbox.record(refundCreated, { after: refund, occurredAt: now });
    await this.waiting.remove(paymentId, reference);
    return refund.version;
  }

  /**
   * Stores the waiting refunds of a payment as pending refunds. A refund continues to wait if too little of the payment
   * is left for it. If a waiting refund was stored meanwhile, its wait ends.
   */
  async beginAll({ id }: Payment, now: Date): Promise<void> {
    for (const refund of await this.waiting.findOf(id)) {
      const stored = await this.refunds.findByReference(id, refund.reference);
      if (stored === null) await this.begin(id, refund, now);
      else await this.forget(id, refund);
    }
  }

  /**
   * Returns true if a refund has waited for less than a day. If it waits longer, an operator must look at it. Locks nothing.
   * @param reference the provider's id of the refund
   */
  async isAwaited(paymentId: string, reference: string): Promise<boolean> {
    const since = await this.waiting.waitsSince(paymentId, reference);
    // A date in the future is that of a wrong clock.
    return since !== null && Math.abs(this.clock.now().getTime() - since.getTime()) < AWAITED_MS;
  }

  /** Removes a waiting refund that failed or was canceled at the provider. A no-op if the refund does not wait. */
  async forget(paymentId: string, { reference }: ReportedRefund): Promise<void> {
    await this.waiting.remove(paymentId, reference);
  }
}
