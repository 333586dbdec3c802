import { Injectable } from '@nestjs/common';
import { changedAt } from '../../../core/next-version';
import {
  CreditNotesService,
  type Invoice,
  InvoiceCollectionService,
  isCredited,
  VoidInvoiceService,
} from '../../invoicing';
import { LostCreditService, ReturnPaymentsService } from '../../payments';

const REASON = 'The subscription ended before its first invoice was paid.';

/**
 * Voids the open invoices of subscriptions that ended without their first payment. An invoice that was partly credited
 * cannot be voided. Such an invoice is credited in full instead.
 *
 * 1. Locks the open invoices of the subscriptions, the payments of these invoices, and the payments that funded credit
 *    used by these invoices. A caller that locks or changes credit itself must call `lock` first.
 * 2. Turns the payments of these invoices into credit of the customer.
 * 3. Voids each invoice, or issues a credit note for its unpaid amount. In both cases, credit that the invoice used is
 *    returned. If the payment behind this credit was lost in a dispute, or refunded at the provider, the loss is taken
 *    from the returned credit.
 */
@Injectable()
export class VoidUnpaidInvoicesWorkflow {
  constructor(
    private readonly collection: InvoiceCollectionService,
    private readonly payments: ReturnPaymentsService,
    private readonly losses: LostCreditService,
    private readonly voidInvoice: VoidInvoiceService,
    private readonly notes: CreditNotesService,
  ) {}

  /**
   * Locks and returns the open invoices of these subscriptions. Also locks the payments that `voidOrCreditAll` changes.
   * Call it after locking the subscriptions and before locking credit.
   */
  async lock(subscriptionIds: readonly string[]): Promise<readonly Invoice[]> {
    const invoices = await this.collection.lockOpenOf(subscriptionIds);
    await this.losses.lockLost(invoices);
    return invoices;
  }

  /**
   * Voids the open invoices of these subscriptions, or credits those that cannot be voided. Runs in the caller's
   * transaction, which has locked the subscriptions and the available credit of their customers. Voids first, because a
   * void locks the credit that it returns, and all other credit notes wait once a note has its number.
   */
  async voidOrCreditAll(subscriptionIds: readonly string[], now: Date): Promise<void> {
    if (subscriptionIds.length === 0) return;
    const invoices = await this.lock(subscriptionIds);
    const times = new Map<string, Date>();
    for (const invoice of invoices) {
      const at = changedAt(now, invoice);
      const { id, amountPaid } = invoice;
      times.set(id, amountPaid > 0n ? await this.payments.returnAsCredit(id, at) : at);
    }
    // Reads the payments again, because `returnAsCredit` may have changed them.
    const lost = await this.losses.lockLost(invoices);
    const voidable = invoices.filter((invoice) => !isCredited(invoice));
    for (const invoice of [...voidable, ...invoices.filter(isCredited)]) {
      const ofCustomer = lost.filter(({ customerId }) => customerId === invoice.customerId);
      const at = changedAt(times.get(invoice.id) ?? now, ...ofCustomer);
      if (isCredited(invoice)) {
        const note = await this.notes.creditUnpaid(invoice, REASON, at);
        await this.losses.coverLossesFromNote(ofCustomer, invoice, note, at);
      } else {
        await this.voidInvoice.void(invoice, at);
        await this.losses.coverLosses(ofCustomer, { sourceId: invoice.id, occurredAt: at });
      }
    }
  }
}
