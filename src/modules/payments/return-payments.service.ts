import { Injectable } from '@nestjs/common';
import { postPaymentReturned } from '../../core/ledger';
import { Outbox } from '../../platform/outbox';
import { CreditBalanceService } from '../invoicing';
import { LedgerService } from '../ledger';
import { withoutInvoice } from './domain/payment';
import { paymentUpdated } from './payments.events';
import { PaymentsRepository } from './payments.repository';

/** Takes payments off invoices that are withdrawn: as money that comes too late, they are the customer's credit. */
@Injectable()
export class ReturnPaymentsService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly credit: CreditBalanceService,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Returns the money that refunds gave back, or have reserved, of what paid an invoice. Locks the payments until the
   * caller's transaction ends.
   */
  async lockRefunded(invoiceId: string): Promise<bigint> {
    let refundedMinor = 0n;
    for (const payment of await this.payments.lockAppliedTo(invoiceId)) {
      const { id, amountRefunded, amountRefundPending } = payment;
      const { refunded, reserved } = await this.credit.lockOf(id);
      refundedMinor += amountRefunded + amountRefundPending - refunded - reserved;
    }
    return refundedMinor;
  }

  /** Takes the payments of an invoice off it, in the caller's transaction: their money becomes credit of the customer. */
  async giveBack(invoiceId: string, now: Date): Promise<void> {
    for (const before of await this.payments.lockAppliedTo(invoiceId)) {
      const after = withoutInvoice(before, now);
      await this.payments.updateOutcome(after);
      await this.outbox.record(paymentUpdated, { after, before, occurredAt: now });
      const { id, customerId, currency, amountApplied: appliedMinor } = before;
      const credit = await this.credit.lockOf(id);
      const refundedMinor = before.amountRefunded - credit.refunded;
      const returned = {
        paymentId: id,
        customerId,
        currency,
        amount: appliedMinor,
        reserved: before.amountRefundPending - credit.reserved,
        refunded: refundedMinor,
      };
      await this.credit.add(returned, now);
      await this.ledger.post(postPaymentReturned({ currency, appliedMinor, refundedMinor }), {
        sourceId: id,
        customerId,
        occurredAt: now,
      });
    }
  }
}
