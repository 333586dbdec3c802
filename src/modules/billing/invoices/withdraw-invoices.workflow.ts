import { Injectable } from '@nestjs/common';
import {
  CreditNotesService,
  InvoiceCollectionService,
  isCredited,
  VoidInvoiceService,
} from '../../invoicing';
import { LostCreditService, ReturnPaymentsService } from '../../payments';

const REASON = 'The subscription ended before its first invoice was paid.';

/**
 * Takes back what was billed for subscriptions that never became active.
 *
 * 1. Locks the open invoices of the subscriptions, and the disputed payments whose credit they used.
 * 2. Turns the payments of these invoices into credit of the customer; all payments are locked before any credit.
 * 3. Voids each invoice; lost disputes take the credit that returns to their payments. An invoice with credited lines cannot be
 *    void: what is left of it is credited as well.
 */
@Injectable()
export class WithdrawInvoicesWorkflow {
  constructor(
    private readonly collection: InvoiceCollectionService,
    private readonly payments: ReturnPaymentsService,
    private readonly losses: LostCreditService,
    private readonly voiding: VoidInvoiceService,
    private readonly notes: CreditNotesService,
  ) {}

  /** Closes the open invoices of these subscriptions, in the caller's transaction, which has locked the subscriptions. */
  async withdrawAll(subscriptionIds: readonly string[], now: Date): Promise<void> {
    if (subscriptionIds.length === 0) return;
    const invoices = await this.collection.lockOpenOf(subscriptionIds);
    const lost = await this.losses.lockLost(invoices);
    for (const { id, amountPaid } of invoices) {
      if (amountPaid > 0n) await this.payments.giveBack(id, now);
    }
    for (const invoice of invoices) {
      if (isCredited(invoice)) {
        await this.notes.creditWholly({ ...invoice, amountPaid: 0n }, REASON, now);
      } else {
        await this.voiding.void(invoice, now);
        const ofCustomer = lost.filter(({ customerId }) => customerId === invoice.customerId);
        await this.losses.take(ofCustomer, { sourceId: invoice.id, occurredAt: now });
      }
    }
  }
}
