import { Injectable } from '@nestjs/common';
import { raise } from '../../../platform/errors';
import { Database } from '../../../platform/database';
import {
  isAnswer,
  type Payment,
  paymentNotInSandbox,
  PaymentsService,
  ProviderGateway,
} from '../../payments';
import { SettlePaymentWorkflow } from './settle-payment.workflow';

/**
 * Completes payments whose outcome is not known. Asks the provider, outside any transaction, and sends the charge again
 * if the provider never received it. Then settles the payment (`SettlePaymentWorkflow`).
 */
@Injectable()
export class ResumePaymentWorkflow {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentsService,
    private readonly gateway: ProviderGateway,
    private readonly settlePayment: SettlePaymentWorkflow,
  ) {}

  /** Completes a payment. Returns true if the provider answered, or if background work will ask the provider again. */
  async resume(id: string): Promise<boolean> {
    const payment = await this.payments.get(id);
    const outcome = await this.gateway.resumeCharge(payment);
    const { dueAt } = await this.settlePayment.settle(payment, outcome);
    return dueAt !== null || isAnswer(outcome);
  }

  /**
   * Sets the outcome of a charge that the sandbox left pending, and settles the payment in the same commit.
   * @param failureCode why the charge fails; null for a success
   * @throws {ProblemError} `payment_not_found`, `payment_not_in_sandbox`
   */
  settleInSandbox(id: string, failureCode: string | null): Promise<Payment> {
    return this.database.transaction(async () => {
      const payment = await this.payments.get(id);
      const outcome =
        (await this.gateway.settleSandboxCharge(id, failureCode)) ?? raise(paymentNotInSandbox(id));
      return this.settlePayment.settle(payment, outcome);
    });
  }
}
