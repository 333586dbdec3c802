import { Injectable } from '@nestjs/common';
import { postPaymentReturned } from '../../core/ledger';
import { Outbox } from '../../platform/outbox';
import { CreditBalanceService, type RefundedOf } from '../invoicing';
import { LedgerService } from '../ledger';
import { lesser } from '../../core/money';
import { goneOf, type Payment, withoutInvoice } from './domain/payment';
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
   * Returns the money that refunds gave back, or have reserved, and disputes took of what paid invoices, by invoice; none for an
   * invoice left out. Locks the payments until the caller's transaction ends, and no credit: only under these locks do refunds take it.
   */
  async lockRefunded(invoiceIds: readonly string[]): Promise<RefundedOf> {
    if (invoiceIds.length === 0) return new Map();
    return this.refundedOf(await this.payments.lockAppliedTo(invoiceIds));
  }

  /** Returns the same without a lock. */
  async findRefunded(invoiceIds: readonly string[]): Promise<RefundedOf> {
    if (invoiceIds.length === 0) return new Map();
    return this.refundedOf(await this.payments.findAppliedTo(invoiceIds));
  }

  private async refundedOf(payments: readonly Payment[]): Promise<RefundedOf> {
    const refunded = payments.filter((payment) => goneOf(payment) > 0n);
    const ofCredit = await this.credit.refundedOf(refunded.map(({ id }) => id));
    const sums = new Map<string, bigint>();
    for (const { id, invoiceId, ...payment } of refunded) {
      if (invoiceId === null) continue;
      const amountMinor = goneOf(payment) - (ofCredit.get(id) ?? 0n);
      sums.set(invoiceId, (sums.get(invoiceId) ?? 0n) + amountMinor);
    }
    return sums;
  }

  /** Takes the payments of an invoice off it, in the caller's transaction: their money becomes credit of the customer. */
  async giveBack(invoiceId: string, now: Date): Promise<void> {
    for (const before of await this.payments.lockAppliedTo([invoiceId])) {
      const after = withoutInvoice(before, now);
      await this.payments.updateOutcome(after);
      await this.outbox.record(paymentUpdated, { after, before, occurredAt: now });
      const { id, customerId, currency, amountApplied: appliedMinor } = before;
      const credit = await this.credit.lockOf(id);
      const refundedMinor = lesser(before.amountRefunded - credit.refunded, appliedMinor);
      const unrefundedMinor = appliedMinor - refundedMinor;
      const reserved = lesser(before.amountRefundPending - credit.reserved, unrefundedMinor);
      // A refund and a dispute can both take the same money.
      const lostMinor = lesser(before.amountLost - credit.lost, unrefundedMinor - reserved);
      const returned = {
        paymentId: id,
        customerId,
        currency,
        amount: appliedMinor,
        reserved,
        refunded: refundedMinor,
        lost: lostMinor,
      };
      await this.credit.add(returned, now);
      const parts = { currency, appliedMinor, refundedMinor, lostMinor };
      const source = { sourceId: id, customerId, occurredAt: now };
      await this.ledger.post(postPaymentReturned(parts), source);
    }
  }
}
