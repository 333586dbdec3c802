import { Injectable, Logger } from '@nestjs/common';
import { isId } from '../../../platform/ids';
import {
  type ApplyResult,
  DisputesService,
  hasEnded,
  type KnownEvent,
  type Payment,
  PaymentsRepository,
  ProviderEventsService,
  ProviderGateway,
  type ProviderName,
  type ReportedCharge,
} from '../../payments';
import { ProviderRefundsService } from '../../refunds';
import { AdoptPaymentWorkflow } from './adopt-payment.workflow';
import { CompleteSetupWorkflow } from './complete-setup.workflow';
import { ResumePaymentWorkflow } from './resume-payment.workflow';

/**
 * Applies notifications of providers. A notification only names a payment, refund, setup or dispute. The present state
 * of this object is always read from the provider. So it does not matter if notifications arrive late, repeatedly or in
 * another order.
 *
 * 1. Reads the object of the notification from the provider, outside any transaction.
 * 2. Settles the payment or refund, completes the setup, records the dispute, or records a refund that was made at the
 *    provider. Records a payment that the database lacks (`AdoptPaymentWorkflow`). Ignores objects of other services
 *    that use the same account at the provider. Never sends a charge that the provider does not find: background work
 *    sends it again.
 * 3. Marks the notification as done if the provider has answered, or if background work will ask the provider again. If
 *    the provider does not have the object, gives up on the notification after 30 days (`ProviderEventsService`).
 */
@Injectable()
export class ApplyProviderEventWorkflow {
  private readonly logger = new Logger('provider-events');

  constructor(
    private readonly events: ProviderEventsService,
    private readonly payments: PaymentsRepository,
    private readonly resumePayment: ResumePaymentWorkflow,
    private readonly setups: CompleteSetupWorkflow,
    private readonly refunds: ProviderRefundsService,
    private readonly gateway: ProviderGateway,
    private readonly disputes: DisputesService,
    private readonly adoptPayment: AdoptPaymentWorkflow,
  ) {}

  /** Applies a stored notification. Returns false if the notification has to be applied again. */
  async resume(id: string): Promise<boolean> {
    const event = await this.events.find(id);
    return event === null || this.events.finish(event, await this.apply(event));
  }

  private async apply(event: KnownEvent): Promise<ApplyResult> {
    const { provider, type, subjectId, objectId } = event;
    if (isId('ref', subjectId)) {
      const isDone = await this.refunds.resume(subjectId, objectId);
      if (isDone !== null) return isDone;
      return objectId === null || this.recordUnknownRefund(provider, objectId);
    }
    // In notifications about refunds that the previous release stored, `subjectId` can be our id of a payment or setup.
    // That release took the id from the metadata of the refund.
    if (type.startsWith('refund.')) {
      return this.recordUnknownRefund(provider, objectId ?? subjectId);
    }
    if (isId('pay', subjectId)) {
      const payment = await this.payments.find(subjectId);
      if (payment === null) return objectId === null || this.adoptPayment.adopt(provider, objectId);
      const isReferenced =
        payment.providerReference !== null ||
        (!hasEnded(payment) && (await this.gateway.restoreReference(payment)));
      return !isReferenced || this.resumePayment.resume(subjectId);
    }
    return isId('pms', subjectId) ? this.setups.resume(subjectId) : this.applyDispute(event);
  }

  /**
   * Records a refund that was made at the provider. If the payment has no final outcome yet, settles the payment first.
   * Ignores refunds that other services made with the same provider account. Asks the provider again if another
   * transaction stored or changed the refund after the provider was asked. Returns false if the notification has to be
   * applied again.
   */
  private async recordUnknownRefund(
    provider: ProviderName,
    reference: string,
    knownVersion = 0,
  ): Promise<ApplyResult> {
    const found = await this.gateway.readUnrecordedRefund(provider, reference);
    if (found.kind === 'missing') return 'missing';
    if (found.kind !== 'refund') return found.kind === 'not_ours';
    return this.withPayment(provider, found, async (paymentId) => {
      const version = await this.refunds.record(paymentId, found.refund, knownVersion);
      return version === null || this.recordUnknownRefund(provider, reference, version);
    });
  }

  /**
   * Records a dispute of one of our payments. If the payment has no final outcome yet, settles the payment first. Asks
   * the provider again after each recorded change of status, and after another notification about the same dispute was
   * applied meanwhile. Returns false if the notification has to be applied again.
   */
  private async applyDispute(event: KnownEvent): Promise<ApplyResult> {
    const { provider, subjectId } = event;
    const version = await this.disputes.versionOf(provider, subjectId);
    const found = await this.gateway.readDispute(provider, subjectId);
    if (found.kind === 'missing') return 'missing';
    if (found.kind !== 'dispute') return found.kind === 'not_ours';
    return this.withPayment(
      provider,
      found,
      async (paymentId) =>
        (await this.disputes.record(paymentId, found.reported, version)) ||
        this.applyDispute(event),
    );
  }

  /**
   * Finds the refunded or disputed payment by the stored id of its charge. If there is none, finds it by our payment id
   * in the metadata of the charge. Records the payment if the database lacks it, and settles it if it has no final
   * outcome. Then calls `record` with the id of the payment. Returns false if the notification has to be applied again.
   *
   * Does not call `record`
   * - if the payment cannot be recorded, for example because another service made it with the same provider account;
   * - if the refund or dispute belongs to a second charge for the payment. Only logs a warning then.
   */
  private async withPayment(
    provider: ProviderName,
    charge: ReportedCharge,
    record: (paymentId: string) => Promise<ApplyResult>,
  ): Promise<ApplyResult> {
    const { chargeReference } = charge;
    let payment = await this.findPayment(provider, charge);
    if (payment === null && charge.paymentId !== null) {
      const adopted = await this.adoptPayment.adopt(provider, chargeReference);
      if (adopted !== true) return adopted;
      payment = await this.findPayment(provider, charge);
    }
    if (payment === null) return true;
    const { id: paymentId } = payment;
    // After a restore from a backup, a payment may lack its provider reference. A poll of the provider restores it.
    if (payment.providerReference === null && !hasEnded(payment)) return false;
    if (payment.providerReference !== chargeReference) {
      const message =
        'a refund or dispute is not recorded: its charge is not the one of its payment';
      this.logger.warn({ payment_id: paymentId, reference: chargeReference }, message);
      return true;
    }
    return (hasEnded(payment) || (await this.hasEndedAfterResume(paymentId))) && record(paymentId);
  }

  private async findPayment(
    provider: ProviderName,
    { chargeReference, paymentId }: ReportedCharge,
  ): Promise<Payment | null> {
    const payments = await this.payments.findReported([], [chargeReference]);
    const charged = payments.find((payment) => payment.provider === provider) ?? null;
    return charged ?? (paymentId === null ? null : this.payments.find(paymentId));
  }

  private async hasEndedAfterResume(paymentId: string): Promise<boolean> {
    await this.resumePayment.resume(paymentId);
    const payment = await this.payments.find(paymentId);
    return payment !== null && hasEnded(payment);
  }
}
