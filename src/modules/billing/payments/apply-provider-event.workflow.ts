import { Injectable } from '@nestjs/common';
import { isId } from '../../../platform/ids';
import {
  DisputesService,
  hasEnded,
  type KnownEvent,
  PaymentsRepository,
  ProviderEventsRepository,
  ProviderGateway,
} from '../../payments';
import { RefundsService } from '../../refunds';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/**
 * Applies notifications of providers. A notification is a hint: the payment, refund or dispute is read from the provider, so
 * that order, repetition and age of notifications do not matter.
 *
 * 1. Reads the object that the event is about from the provider, outside any transaction.
 * 2. Settles the payment or refund, or records the dispute or the refund that was made at the provider. Objects of another service with the same account are left alone.
 * 3. Marks the event as done, unless the provider did not answer and only this event asks again.
 */
@Injectable()
export class ApplyProviderEventWorkflow {
  constructor(
    private readonly events: ProviderEventsRepository,
    private readonly payments: PaymentsRepository,
    private readonly resumption: ResumePaymentWorkflow,
    private readonly refunds: RefundsService,
    private readonly gateway: ProviderGateway,
    private readonly disputes: DisputesService,
  ) {}

  async resume(id: string): Promise<void> {
    const event = await this.events.find(id);
    if (event === null || (await this.apply(event))) await this.events.finish(id);
  }

  /** Returns false if the event has to be applied again. */
  private async apply(event: KnownEvent): Promise<boolean> {
    const { subjectId } = event;
    if (isId('pay', subjectId)) {
      const payment = await this.payments.find(subjectId);
      const reference = payment?.providerReference ?? null;
      return reference === null || this.resumption.resume(subjectId);
    }
    if (isId('ref', subjectId)) {
      return !(await this.refunds.exists(subjectId)) || this.refunds.resume(subjectId);
    }
    return event.type.startsWith('refund.')
      ? this.applyMadeRefund(event)
      : this.applyDispute(event);
  }

  /** Records a refund of one of our payments that somebody made at the provider, once the payment is settled. */
  private async applyMadeRefund({ provider, subjectId }: KnownEvent): Promise<boolean> {
    const seen = await this.gateway.readMadeRefund(provider, subjectId);
    if (seen.kind !== 'made_refund') return seen.kind === 'not_ours';
    return this.withPayment(seen, (paymentId) => this.refunds.recordMade(paymentId, seen.made));
  }

  /** Records a dispute of one of our payments, once the payment is settled. */
  private async applyDispute({ provider, subjectId }: KnownEvent): Promise<boolean> {
    const seen = await this.gateway.readDispute(provider, subjectId);
    if (seen.kind !== 'dispute') return seen.kind === 'not_ours';
    return this.withPayment(seen, async (paymentId) => {
      await this.disputes.record(paymentId, seen.reported);
      return true;
    });
  }

  /** Settles a payment, if need be, before something about it is recorded. Leaves payments of others alone. */
  private async withPayment(
    { paymentId, chargeReference }: { paymentId: string; chargeReference: string },
    record: (paymentId: string) => Promise<boolean>,
  ): Promise<boolean> {
    const payment = await this.payments.find(paymentId);
    if (payment?.providerReference !== chargeReference) return true;
    return (hasEnded(payment) || (await this.settles(paymentId))) && record(paymentId);
  }

  private async settles(paymentId: string): Promise<boolean> {
    await this.resumption.resume(paymentId);
    const payment = await this.payments.find(paymentId);
    return payment !== null && hasEnded(payment);
  }
}
