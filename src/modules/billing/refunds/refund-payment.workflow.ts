import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { raise } from '../../../platform/errors';
import { paymentNotFound, paymentNotRefundable, PaymentsRepository } from '../../payments';
import {
  paymentHasNoInvoice,
  type Refund,
  refundDiffersFromCreditNote,
  type RefundedNote,
  type RefundLimits,
  type RefundNote,
  type RefundRequest,
  RefundsService,
} from '../../refunds';
import { IssueCreditNoteWorkflow } from '../credit-notes/issue-credit-note.workflow';

/**
 * Refunds payments, in two commits with the call of the provider between them.
 *
 * 1. First commit: claims the idempotency key. Issues the credit note, if the request has one, which locks the customer, the
 *    subscription and the invoice. Then reserves the amount on the payment and writes the pending refund.
 * 2. Asks the provider to give the money back, outside any transaction.
 * 3. Second commit: settles the refund.
 */
@Injectable()
export class RefundPaymentWorkflow {
  constructor(
    private readonly database: Database,
    private readonly payments: PaymentsRepository,
    private readonly refunds: RefundsService,
    private readonly notes: IssueCreditNoteWorkflow,
  ) {}

  /**
   * Refunds a payment in full or in part. If the provider refuses, the refund has failed, which is no error; its credit note
   * stands, and another refund can pay it out.
   * @param limits limits of the caller
   * @throws {ProblemError} `payment_not_found`, `payment_not_refundable`, `payment_disputed`,
   *   `refund_amount_exceeds_refundable`, `idempotency_key_reused`, `refund_limit_exceeded`; with a credit note also
   *   `payment_has_no_invoice`, `refund_differs_from_credit_note`, `reference_not_found`, `invoice_not_creditable`,
   *   `credit_exceeds_line`, `credit_given_back_already`, `test_clock_advancing`, `test_clock_failed`
   */
  async refund(request: RefundRequest, limits: RefundLimits): Promise<Refund> {
    const begun = await this.database.transaction(async () => {
      const claimed = await this.refunds.claim(request);
      if (claimed.made !== null) return { made: claimed.made };
      const { creditNote } = request;
      const note = creditNote === null ? null : await this.issue(creditNote, request);
      return this.refunds.begin(claimed, request, note, limits);
    });
    return 'made' in begun ? begun.made : this.refunds.send(begun);
  }

  private async issue(
    { lines, reason }: RefundNote,
    { paymentId, amount }: RefundRequest,
  ): Promise<RefundedNote> {
    const payment = (await this.payments.find(paymentId)) ?? raise(paymentNotFound(paymentId));
    const { invoiceId, status } = payment;
    if (status !== 'succeeded') throw paymentNotRefundable(paymentId, status);
    if (invoiceId === null) throw paymentHasNoInvoice(paymentId);
    const order = { invoiceId, lines, reason, settle: 'refund', pointer: '/credit_note' } as const;
    const note = await this.notes.issue(order);
    const differs = amount !== null && amount !== note.toRefund;
    if (differs || note.toRefund === 0n) throw refundDiffersFromCreditNote(note.toRefund);
    return note;
  }
}
