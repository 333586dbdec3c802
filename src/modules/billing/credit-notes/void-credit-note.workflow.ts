import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { raise } from '../../../platform/errors';
import {
  type CreditNote,
  creditNoteNotFound,
  creditNoteSettled,
  CreditNotesService,
} from '../../invoicing';
import { RefundsService } from '../../refunds';
import { BillingLocks } from '../billing-locks';

/**
 * Voids credit notes. First locks the customer, the subscription and the invoice. Takes back the credit that the note
 * gave. If the note had reduced the amount due, that amount is owed again. Refuses to void a note if the refund that
 * was issued with the note is pending or has succeeded.
 */
@Injectable()
export class VoidCreditNoteWorkflow {
  constructor(
    private readonly database: Database,
    private readonly locks: BillingLocks,
    private readonly notes: CreditNotesService,
    private readonly refunds: RefundsService,
  ) {}

  /**
   * @throws {ProblemError} `credit_note_not_found`, `invalid_transition`, `credit_note_corrected`,
   *   `credit_note_settled`, `test_clock_advancing`, `test_clock_failed`
   */
  void(id: string): Promise<CreditNote> {
    return this.database.transaction(async () => {
      const { invoiceId } = await this.notes.get(id);
      const locked = (await this.locks.lockInvoice(invoiceId)) ?? raise(creditNoteNotFound(id));
      if (await this.refunds.refundsCreditNote(id)) throw creditNoteSettled(id);
      return this.notes.void(id, locked.invoice, locked.now);
    });
  }
}
