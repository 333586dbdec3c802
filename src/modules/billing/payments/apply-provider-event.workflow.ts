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
 * 2. Settles the payment or refund, or records the dispute. Objects of another service with the same account are left alone.
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
    return this.applyDispute(event);
  }

  /** Records a dispute of one of our payments, once the payment is settled. */
  private async applyDispute({ provider, subjectId }: KnownEvent): Promise<boolean> {
    const seen = await this.gateway.readDispute(provider, subjectId);
    if (seen.kind !== 'dispute') return seen.kind === 'not_ours';
    const { paymentId, chargeReference, reported } = seen;
    const payment = await this.payments.find(paymentId);
    if (payment?.providerReference !== chargeReference) return true;
    if (!hasEnded(payment) && !(await this.settles(paymentId))) return false;
    await this.disputes.record(paymentId, reported);
    return true;
  }

  private async settles(paymentId: string): Promise<boolean> {
    await this.resumption.resume(paymentId);
    const payment = await this.payments.find(paymentId);
    return payment !== null && hasEnded(payment);
  }
}
