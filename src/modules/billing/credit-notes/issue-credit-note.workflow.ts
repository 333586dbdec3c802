import { Injectable } from '@nestjs/common';
import { changedAt } from '../../../core/next-version';
import { Database } from '../../../platform/database';
import { raise, referenceNotFound } from '../../../platform/errors';
import {
  type CreditNote,
  type CreditNoteRequest,
  type CreditNoteWithLimits,
  CreditNotesService,
} from '../../invoicing';
import {
  type DisputedMoney,
  type LostCreditOfInvoice,
  LostCreditService,
  paymentDisputed,
  ReturnPaymentsService,
} from '../../payments';
import { BillingLocks } from '../billing-locks';
import { FirstPaymentsWorkflow } from '../subscriptions/first-payments.workflow';

/**
 * Issues credit notes.
 *
 * 1. Locks the customer, the subscription and the invoice.
 * 2. Locks the payments of the invoice, and the payments that funded credit used by the invoice. Reads how much of
 *    these payments was already refunded or lost in disputes, so that no money is given back twice. If the subscription
 *    is waiting for its first payment, also locks what step 6 changes, before the note gets its number.
 * 3. Issues the note. The note first reduces the unpaid amount of the invoice. The rest of the note becomes credit of
 *    the customer, or is to be refunded.
 * 4. Refuses a note whose refund or credit would need the money of a payment with an open dispute.
 * 5. Covers losses with credit from the note. A loss exists if the invoice used credit from a payment that later lost
 *    money in a dispute, or was refunded at the provider.
 * 6. Activates a subscription that was waiting for its first payment, if the note leaves nothing to pay.
 */
@Injectable()
export class IssueCreditNoteWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly payments: ReturnPaymentsService,
    private readonly losses: LostCreditService,
    private readonly notes: CreditNotesService,
    private readonly firstPayments: FirstPaymentsWorkflow,
  ) {}

  /**
   * @throws {ProblemError} `reference_not_found`, `invoice_not_creditable`, `credit_exceeds_line`,
   *   `credit_takes_nothing`, `credit_given_back_already`, `payment_disputed`, `test_clock_advancing`,
   *   `test_clock_failed`
   */
  issue(request: CreditNoteRequest): Promise<CreditNote> {
    const { invoiceId } = request;
    return this.database.transaction(async () => {
      const locked =
        (await this.locks.lockInvoice(invoiceId)) ??
        raise(referenceNotFound('/invoice_id', invoiceId));
      const { invoice: before, subscription } = locked;
      const credit = await this.losses.lockDisputed(before);
      const now = changedAt(locked.now, ...credit.lost);
      const { disputed, ...returned } = await this.payments.lockReturned(before.id);
      await this.firstPayments.lockBeforeCredit(subscription);
      const { lostCreditMinor } = credit;
      const issued = await this.notes.issue(request, before, { ...returned, lostCreditMinor }, now);
      assertUndisputed(issued, disputed, credit);
      const { note, invoice } = issued;
      await this.losses.coverLossesFromNote(credit.lost, before, note, now);
      if (invoice.status !== before.status) {
        await this.firstPayments.endInvoice(invoice, subscription, now);
      }
      return note;
    });
  }
}

/**
 * Refuses a credit note that would give back money that the customer may also get back through an open dispute.
 * @param money disputed money of the payments of the invoice
 * @throws {ProblemError} `payment_disputed`
 */
function assertUndisputed(
  { note, leftToRefund, leftToGiveBack, lostCredit }: CreditNoteWithLimits,
  money: DisputedMoney,
  { disputedCredit }: LostCreditOfInvoice,
): void {
  const id = money.disputedId ?? disputedCredit.disputedId;
  if (id === null) return;
  const disputedMinor = money.disputedMinor + disputedCredit.disputedMinor;
  const isOfMoney =
    note.toRefund > 0n &&
    (leftToRefund < money.disputedMinor || leftToGiveBack - lostCredit < disputedMinor);
  const isOfCredit = note.toCredit > 0n && leftToGiveBack < disputedMinor;
  if (isOfMoney || isOfCredit) throw paymentDisputed(id);
}
