import { Injectable } from '@nestjs/common';
import { isId } from '../../../platform/ids';
import { PaymentsRepository, ProviderEventsRepository } from '../../payments';
import { RefundsService } from '../../refunds';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/**
 * Applies notifications of providers. A notification is a hint: the payment or refund is read from the provider, so that
 * order, repetition and age of notifications do not matter.
 *
 * 1. Reads the object that the event is about from the provider, outside any transaction.
 * 2. Settles the payment or refund. Objects of another service with the same account are left alone.
 * 3. Marks the event as done, unless the provider did not answer and only this event asks again.
 */
@Injectable()
export class ApplyProviderEventWorkflow {
  constructor(
    private readonly events: ProviderEventsRepository,
    private readonly payments: PaymentsRepository,
    private readonly resumption: ResumePaymentWorkflow,
    private readonly refunds: RefundsService,
  ) {}

  async resume(id: string): Promise<void> {
    const subjectId = await this.events.subjectOf(id);
    if (subjectId === null || (await this.apply(subjectId))) await this.events.finish(id);
  }

  /** Returns false if the event has to be applied again. */
  private async apply(subjectId: string): Promise<boolean> {
    if (isId('pay', subjectId)) {
      const payment = await this.payments.find(subjectId);
      const reference = payment?.providerReference ?? null;
      return reference === null || this.resumption.resume(subjectId);
    }
    const isOurs = isId('ref', subjectId) && (await this.refunds.exists(subjectId));
    return !isOurs || this.refunds.resume(subjectId);
  }
}
