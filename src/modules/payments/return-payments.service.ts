import { Injectable, type OnModuleInit } from '@nestjs/common';
import { postPaymentReturned } from '../../core/ledger';
import { Outbox } from '../../platform/outbox';
import { PaymentReturns } from '../invoicing';
import { LedgerService } from '../ledger';
import { refundedOfInvoice, takenOff } from './domain/payment';
import { paymentUpdated } from './payments.events';
import { PaymentsRepository } from './payments.repository';

/** Takes payments off invoices that are withdrawn: as money that comes too late, they are the customer's credit. */
@Injectable()
export class ReturnPaymentsService implements OnModuleInit {
  constructor(
    private readonly returns: PaymentReturns,
    private readonly payments: PaymentsRepository,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
  ) {}

  onModuleInit(): void {
    this.returns.register((invoiceId, now) => this.giveBack(invoiceId, now));
  }

  private async giveBack(invoiceId: string, now: Date): Promise<void> {
    for (const before of await this.payments.lockAppliedTo(invoiceId)) {
      const after = takenOff(before, now);
      await this.payments.updateOutcome(after);
      await this.outbox.record(paymentUpdated, { after, before, occurredAt: now });
      const { id, customerId, currency, amountApplied: appliedMinor } = before;
      const refundedMinor = refundedOfInvoice(before);
      await this.ledger.post(postPaymentReturned({ currency, appliedMinor, refundedMinor }), {
        sourceId: id,
        customerId,
        occurredAt: now,
      });
    }
  }
}
