import { Injectable } from '@nestjs/common';
import { postPaymentReturned } from '../../core/ledger';
import { changedAt } from '../../core/next-version';
import { Outbox } from '../../platform/outbox';
import {
  CreditBalanceService,
  NOTHING_REFUNDED,
  type RefundedAmount,
  type ReturnedMoney,
  NOTHING_RETURNED,
  type RefundedOf,
} from '../invoicing';
import { LedgerService } from '../ledger';
import { lesser } from '../../core/money';
import { withoutInvoice } from './domain/payment';
import { type DisputedMoney, NOTHING_DISPUTED } from './disputes/lost-credit.service';
import { ReturnedMoneyService } from './disputes/returned-money.service';
import { paymentUpdated } from './payments.events';
import { PaymentsRepository } from './payments.repository';

/** Money that paid an invoice and that refunds (pending or succeeded) or lost disputes gave back. Minor units. */
export interface ReturnedOfInvoice extends ReturnedMoney {
  /** Money that paid the invoice and cannot be refunded now, because a dispute about it is open. Not given back yet. */
  readonly disputed: DisputedMoney;
}

/**
 * Computes how much of the money that paid invoices was given back. Also detaches payments from voided invoices, so
 * that their money becomes credit of the customer.
 */
@Injectable()
export class ReturnPaymentsService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly credit: CreditBalanceService,
    private readonly returned: ReturnedMoneyService,
    private readonly ledger: LedgerService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Returns two amounts by invoice id: the money and the credit that paid the invoice and that was refunded, is
   * reserved for refunds, or was lost in disputes. Leaves out invoices without such amounts. Locks the payments that
   * this money and credit came from, until the caller's transaction ends. Credit need not be locked, because refunds
   * lock the same payments before they change credit.
   */
  lockRefunded(invoiceIds: readonly string[]): Promise<RefundedOf> {
    return this.refundedOf(invoiceIds, 'lockAppliedTo');
  }

  /**
   * Locks the payments that {@link lockRefunded} locks, and those that the available credit of a customer came from,
   * until the caller's transaction ends. Does not lock payments whose credit becomes available meanwhile.
   */
  async lockSources(invoiceIds: readonly string[], customerId: string): Promise<void> {
    const used = await this.credit.usesOf(invoiceIds);
    const sourceIds = await this.credit.availableSourcesOf(customerId);
    await this.payments.lockAppliedTo(invoiceIds, [
      ...used.map(({ sourceId }) => sourceId),
      ...sourceIds,
    ]);
  }

  /** Returns the same amounts as {@link lockRefunded}, but locks nothing. */
  findRefunded(invoiceIds: readonly string[]): Promise<RefundedOf> {
    return this.refundedOf(invoiceIds, 'findAppliedTo');
  }

  /**
   * Returns how much of the money that paid an invoice was given back, and how much cannot be refunded because of an
   * open dispute. Locks the payments until the caller's transaction ends.
   */
  async lockReturned(invoiceId: string): Promise<ReturnedOfInvoice> {
    const payments = await this.payments.lockAppliedTo([invoiceId]);
    const returned = await this.returned.partsOf(payments);
    return returned.reduce<ReturnedOfInvoice>(
      (sum, { payment, refundedMinor, lostMinor }) => {
        const { id, amountApplied, isDisputed } = payment;
        const leftMinor = amountApplied - refundedMinor - lostMinor;
        const isKept = isDisputed && leftMinor > 0n;
        return {
          refundedMinor: sum.refundedMinor + refundedMinor,
          lostMinor: sum.lostMinor + lostMinor,
          disputed: isKept
            ? { disputedMinor: sum.disputed.disputedMinor + leftMinor, disputedId: id }
            : sum.disputed,
        };
      },
      { ...NOTHING_RETURNED, disputed: NOTHING_DISPUTED },
    );
  }

  /** @param read reads the payments that paid the invoices, and the payments whose credit the invoices used */
  private async refundedOf(
    invoiceIds: readonly string[],
    read: 'lockAppliedTo' | 'findAppliedTo',
  ): Promise<RefundedOf> {
    const sums = new Map<string, RefundedAmount>();
    if (invoiceIds.length === 0) return sums;
    const uses = await this.credit.usesOf(invoiceIds);
    const sourceIds = uses.map(({ sourceId }) => sourceId);
    const payments = await this.payments[read](invoiceIds, sourceIds);
    const applied = payments.filter(
      ({ invoiceId, amountApplied }) => amountApplied > 0n && invoiceIds.includes(invoiceId ?? ''),
    );
    for (const { payment, refundedMinor, lostMinor } of await this.returned.partsOf(applied)) {
      const { invoiceId } = payment;
      if (invoiceId === null || refundedMinor + lostMinor === 0n) continue;
      const { moneyMinor } = sums.get(invoiceId) ?? NOTHING_REFUNDED;
      sums.set(invoiceId, {
        moneyMinor: moneyMinor + refundedMinor + lostMinor,
        creditMinor: 0n,
      });
    }
    const { lost } = await this.returned.lostCreditOf(uses, payments);
    for (const [invoiceId, creditMinor] of lost) {
      if (!invoiceIds.includes(invoiceId)) continue;
      sums.set(invoiceId, { ...(sums.get(invoiceId) ?? NOTHING_REFUNDED), creditMinor });
    }
    return sums;
  }

  /**
   * Detaches the payments that paid parts of a voided invoice, in the caller's transaction. Their money becomes credit
   * of the customer. Returns the time of the change: `readAt`, or the last change of a payment if that is later.
   */
  async returnAsCredit(invoiceId: string, readAt: Date): Promise<Date> {
    const payments = await this.payments.lockAppliedTo([invoiceId]);
    const now = changedAt(readAt, ...payments);
    for (const before of payments) {
      const after = withoutInvoice(before, now);
      await this.payments.updateOutcome(after);
      await this.outbox.record(paymentUpdated, { after, before, occurredAt: now });
      const { id, customerId, currency, amountApplied: appliedMinor } = before;
      const credit = await this.credit.lockOf(id);
      const refundedMinor = lesser(before.amountRefunded - credit.refunded, appliedMinor);
      const unrefundedMinor = appliedMinor - refundedMinor;
      const reserved = lesser(before.amountRefundPending - credit.reserved, unrefundedMinor);
      // At most the money that is not refunded or reserved, because a refund and a dispute can take the same money.
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
    return now;
  }
}
