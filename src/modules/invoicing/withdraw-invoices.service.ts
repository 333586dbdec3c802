import { Injectable } from '@nestjs/common';
import { CreditNotesService } from './credit-notes.service';
import { isCredited } from './domain/invoice';
import { DueInvoicesRepository } from './due-invoices.repository';
import { InvoicesRepository } from './invoices.repository';
import { PaymentReturns } from './payment-returns';
import { VoidInvoiceService } from './void-invoice.service';

const REASON = 'The subscription ended before its first invoice was paid.';

/** Takes back what was billed for subscriptions that never were active. */
@Injectable()
export class WithdrawInvoicesService {
  constructor(
    private readonly due: DueInvoicesRepository,
    private readonly invoices: InvoicesRepository,
    private readonly returns: PaymentReturns,
    private readonly voiding: VoidInvoiceService,
    private readonly notes: CreditNotesService,
  ) {}

  /**
   * Closes the open invoices of subscriptions, in the caller's transaction: they are void, and what was paid of them is the
   * customer's credit. One of which lines were credited cannot be void: what is left of it is credited as well.
   */
  async withdrawAll(subscriptionIds: readonly string[], now: Date): Promise<void> {
    if (subscriptionIds.length === 0) return;
    const ids = await this.due.lockOpenOf(subscriptionIds);
    const invoices = await this.invoices.findAll(ids);
    // All payments are locked before any credit, in the order of a refund.
    for (const invoice of invoices) await this.returns.giveBack(invoice, now);
    for (const invoice of invoices) {
      if (isCredited(invoice)) {
        await this.notes.creditWholly({ ...invoice, amountPaid: 0n }, REASON, now);
      } else {
        await this.voiding.void(invoice, now);
      }
    }
  }
}
