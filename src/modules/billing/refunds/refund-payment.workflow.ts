import { Injectable } from '@nestjs/common';
import { idempotencyKeyReused, raise } from '../../../platform/errors';
import { ReturnedLeases } from '../../../platform/processes';
import { CreditNotesService } from '../../invoicing';
import { paymentNotFound, paymentNotRefundable, PaymentsRepository } from '../../payments';
import {
  type ReservedRefund,
  isSameNote,
  paymentHasNoInvoice,
  type Refund,
  refundDiffersFromCreditNote,
  type RefundedNote,
  type RefundLimits,
  type RefundNote,
  type RefundRequest,
  RefundsService,
  type StartedRefund,
} from '../../refunds';
import { IssueCreditNoteWorkflow } from '../credit-notes/issue-credit-note.workflow';

/**
 * Refunds payments, in two commits with the call to the provider between them.
 *
 * 1. First commit: claims the idempotency key. If the request has a credit note, issues the note, which also locks the
 *    customer, the subscription and the invoice. Then reserves the amount on the payment and writes the pending refund.
 * 2. Sends the refund to the provider, outside any transaction.
 * 3. Second commit: settles the refund.
 */
@Injectable()
export class RefundPaymentWorkflow {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly refunds: RefundsService,
    private readonly notes: CreditNotesService,
    private readonly issueCreditNote: IssueCreditNoteWorkflow,
    private readonly leases: ReturnedLeases,
  ) {}

  /**
   * Refunds a payment in full or in part. If the provider refuses the refund, the refund fails and no error is thrown.
   * A credit note that was issued with a failed refund stays issued, and another refund can pay it out.
   * @param limits largest sum that the caller may refund of one payment, in minor units by currency; null: no limit
   * @throws {ProblemError} `payment_not_found`, `payment_not_refundable`, `payment_disputed`,
   *   `refund_amount_exceeds_refundable`, `idempotency_key_reused`, `refund_limit_exceeded`; with a credit note also
   *   `payment_has_no_invoice`, `refund_differs_from_credit_note`, `reference_not_found`, `invoice_not_creditable`,
   *   `credit_exceeds_line`, `credit_takes_nothing`, `credit_given_back_already`, `test_clock_advancing`,
   *   `test_clock_failed`
   */
  async refund(request: RefundRequest, limits: RefundLimits): Promise<Refund> {
    const started = await this.refunds.start();
    const lease = { table: 'refund', ids: [started.id], endsAt: started.lease.endsAt };
    const begun = await this.leases.begin(
      () => this.begin(started, request, limits),
      () => lease,
    );
    if ('made' in begun) return begun.made;
    return this.leases.finish(lease, () => this.refunds.send(begun));
  }

  private async begin(
    started: StartedRefund,
    request: RefundRequest,
    limits: RefundLimits,
  ): Promise<ReservedRefund | { readonly made: Refund }> {
    const made = await this.refunds.claim(started, request);
    const { creditNote } = request;
    if (made !== null) {
      await this.requireSameNote(made, creditNote);
      return { made };
    }
    const note = creditNote === null ? null : await this.issue(creditNote, request);
    return this.refunds.begin(started, request, note, limits);
  }

  /** @throws {ProblemError} `idempotency_key_reused` if refund and repeated request have different credit notes */
  private async requireSameNote(
    { creditNoteId }: Refund,
    requested: RefundNote | null,
  ): Promise<void> {
    if (creditNoteId === null || requested === null) return;
    const note = await this.notes.get(creditNoteId);
    if (!isSameNote(note, requested)) throw idempotencyKeyReused();
  }

  private async issue(
    { lines, reason }: RefundNote,
    { paymentId, amount }: RefundRequest,
  ): Promise<RefundedNote> {
    const payment = (await this.payments.find(paymentId)) ?? raise(paymentNotFound(paymentId));
    const { invoiceId, status } = payment;
    if (status !== 'succeeded') throw paymentNotRefundable(paymentId, status);
    if (invoiceId === null) throw paymentHasNoInvoice(paymentId);
    const request = {
      invoiceId,
      lines,
      reason,
      settle: 'refund',
      pointer: '/credit_note',
    } as const;
    const note = await this.issueCreditNote.issue(request);
    const differs = amount !== null && amount !== note.toRefund;
    if (differs || note.toRefund === 0n) throw refundDiffersFromCreditNote(note.toRefund);
    return note;
  }
}
