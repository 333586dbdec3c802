import { Injectable } from '@nestjs/common';
import { postLossRecovered, postRefundRecovered } from '../../../core/ledger';
import {
  CreditBalanceService,
  type CreditNote,
  type CreditUse,
  type Invoice,
  NOTHING_RETURNED,
  type OriginUse,
  type PaymentCredit,
  type ReturnedMoney,
} from '../../invoicing';
import { LedgerService } from '../../ledger';
import { type Payment, returnedOf } from '../domain/payment';
import { refundedBeyondCredit } from '../domain/refundable';
import { PaymentsRepository } from '../payments.repository';
import { greater, lesser } from '../../../core/money';
import { ReturnedMoneyService } from './returned-money.service';

export interface DisputedMoney {
  /** Money that open disputes may take back, in minor units. */
  readonly disputedMinor: bigint;
  /** Id of one payment with an open dispute; null if there is no such payment. */
  readonly disputedId: string | null;
}

export const NOTHING_DISPUTED: DisputedMoney = { disputedMinor: 0n, disputedId: null };

/**
 * Lost and disputed parts of the credit that an invoice used, in minor units. Credit is lost if the payment that it
 * came from is refunded or lost in a dispute.
 */
export interface LostCreditOfInvoice {
  /**
   * Part that is lost: refunds or lost disputes took its money, and no unused credit from the same payment covered
   * this.
   */
  readonly lostCreditMinor: bigint;
  /** Part that open disputes may take in addition to `lostCreditMinor`. */
  readonly disputedCredit: DisputedMoney;
}

/** A locked payment that is to be refunded, and the lost or disputed credit that its invoice used. */
interface PaymentForRefund extends LostCreditOfInvoice {
  /** Null: the payment does not exist. */
  readonly payment: Payment | null;
}

/**
 * Credit that must still be taken from the customer, because the payment that it came from was lost or refunded. In
 * minor units:
 * - `lostMinor`: lost in disputes.
 * - `refundedMinor`: given back by succeeded refunds, although invoices had already used the credit.
 * - `reservedMinor`: the same for pending refunds.
 */
interface MissingCredit extends ReturnedMoney {
  readonly reservedMinor: bigint;
}

/**
 * Source and time of a ledger transaction. The source is the object that made credit available, such as a voided
 * invoice.
 */
interface CreditOrigin {
  readonly sourceId: string;
  readonly sourceVersion?: number;
  readonly occurredAt: Date;
}

/**
 * Covers losses of a payment with unused credit from the same payment, even if the credit becomes available after the
 * loss. A loss is money that a dispute took, or credit that a refund gave back although invoices had used it.
 */
@Injectable()
export class LostCreditService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly credit: CreditBalanceService,
    private readonly returned: ReturnedMoneyService,
    private readonly ledger: LedgerService,
  ) {}

  /**
   * Locks two groups of payments until the caller's transaction ends: the payments of the invoices, and the payments
   * whose credit the invoices used. Returns the payments of the second group that have refunds (pending or succeeded)
   * or losses in disputes. Must be called before credit is locked.
   */
  async lockLost(invoices: readonly Pick<Invoice, 'id'>[]): Promise<readonly Payment[]> {
    const { payments } = await this.lockSources(invoices.map(({ id }) => id));
    return payments.filter((payment) => returnedOf(payment) > 0n);
  }

  /**
   * Locks and returns the same payments as {@link lockLost}, for one invoice. Also returns two parts of the credit that
   * this invoice used: the part that was lost, and the further part that can be lost in open disputes.
   */
  async lockDisputed({
    id,
  }: Pick<Invoice, 'id'>): Promise<LostCreditOfInvoice & { readonly lost: readonly Payment[] }> {
    const { payments, uses } = await this.lockSources([id]);
    const lost = payments.filter((payment) => returnedOf(payment) > 0n);
    return { lost, ...(await this.lostCreditOf(id, uses, payments)) };
  }

  /**
   * Locks three groups of payments until the caller's transaction ends: the payment to refund, the other payments of
   * its invoice, and the payments whose credit this invoice used. Must be called before credit is locked.
   * @param invoiceId invoice of the payment; null: none
   */
  async lockForRefund(paymentId: string, invoiceId: string | null): Promise<PaymentForRefund> {
    const uses = await this.credit.usesOf(invoiceId === null ? [] : [invoiceId]);
    const sourceIds = uses.map(({ sourceId }) => sourceId);
    const locked = await this.payments.lockWithOthersOfInvoice(paymentId, sourceIds);
    const lost = await this.lostCreditOf(invoiceId ?? '', uses, locked);
    return { payment: locked.find(({ id }) => id === paymentId) ?? null, ...lost };
  }

  /**
   * Covers the uncovered losses of each locked payment with available credit from the same payment. Posts the total to
   * the ledger. All payments must belong to one customer.
   */
  async coverLosses(payments: readonly Payment[], origin: CreditOrigin): Promise<void> {
    let covered = NOTHING_RETURNED;
    for (const payment of payments) {
      const missing = missingOf(payment, await this.credit.lockOf(payment.id));
      covered = sumOf(covered, await this.take(payment.id, missing));
    }
    const [payment] = payments;
    if (payment !== undefined) await this.post(payment, covered, origin);
  }

  /**
   * Takes available credit that came from a locked payment, after a bank returned a refund of this payment. Covers
   * pending refunds first, then losses in disputes. Returns the credit taken for losses, which the caller must post to
   * the ledger.
   */
  async coverAfterReturn(payment: Payment): Promise<bigint> {
    const missing = missingOf(payment, await this.credit.lockOf(payment.id));
    return (await this.take(payment.id, { ...missing, refundedMinor: 0n })).lostMinor;
  }

  /**
   * Covers the uncovered losses of locked payments with the credit that a credit note gave. Posts the amount to the
   * ledger.
   * @param payments payments whose credit `invoice` used
   * @param invoice invoice of the credit note
   */
  async coverLossesFromNote(
    payments: readonly Payment[],
    invoice: Pick<Invoice, 'id'>,
    note: CreditNote,
    now: Date,
  ): Promise<void> {
    if (payments.length === 0 || note.toCredit === 0n) return;
    const uses = await this.credit.usesOf([invoice.id]);
    let covered = NOTHING_RETURNED;
    for (const payment of payments) {
      const usedMinor = uses.find(({ sourceId }) => sourceId === payment.id)?.amountMinor ?? 0n;
      const credit = await this.credit.lockOf(payment.id);
      const { refundedMinor, reservedMinor, lostMinor } = missingOf(payment, credit);
      let leftMinor = lesser(credit.used, usedMinor);
      const take = async (use: OriginUse, missingMinor: bigint): Promise<bigint> => {
        const maxMinor = lesser(missingMinor, leftMinor);
        if (maxMinor <= 0n) return 0n;
        const taken = await this.credit.takeOfNote(note.id, payment.id, use, maxMinor);
        leftMinor -= taken;
        return taken;
      };
      const refunded = await take('refunded', refundedMinor);
      await take('reserved', reservedMinor);
      const lost = await take('lost', lostMinor);
      covered = sumOf(covered, { refundedMinor: refunded, lostMinor: lost });
    }
    await this.post(note, covered, { sourceId: note.id, occurredAt: now });
  }

  /**
   * Takes available credit of a locked payment to cover its refunds and losses, as much as is available. Returns the
   * credit taken, except the part that is reserved for pending refunds.
   */
  private async take(
    paymentId: string,
    { refundedMinor, reservedMinor, lostMinor }: MissingCredit,
  ): Promise<ReturnedMoney> {
    const refunded =
      refundedMinor > 0n ? await this.credit.takeRefunded(paymentId, refundedMinor) : 0n;
    if (reservedMinor > 0n) await this.credit.reserve(paymentId, reservedMinor);
    const lost = lostMinor > 0n ? await this.credit.takeLost(paymentId, lostMinor) : 0n;
    return { refundedMinor: refunded, lostMinor: lost };
  }

  private async lostCreditOf(
    invoiceId: string,
    uses: readonly CreditUse[],
    payments: readonly Payment[],
  ): Promise<LostCreditOfInvoice> {
    const { lost, lostWithDisputes } = await this.returned.lostCreditOf(uses, payments);
    const lostCreditMinor = lost.get(invoiceId) ?? 0n;
    const used = uses.map(({ sourceId }) => sourceId);
    const disputed = payments.find(({ id, isDisputed }) => isDisputed && used.includes(id));
    return {
      lostCreditMinor,
      disputedCredit: {
        disputedMinor: (lostWithDisputes.get(invoiceId) ?? 0n) - lostCreditMinor,
        disputedId: disputed?.id ?? null,
      },
    };
  }

  /**
   * Locks the payments that {@link lockLost} locks. Returns the credit that the invoices used, and the payments that
   * this credit came from.
   */
  private async lockSources(invoiceIds: readonly string[]) {
    const uses = await this.credit.usesOf(invoiceIds);
    const sourceIds = uses.map(({ sourceId }) => sourceId);
    const payments = await this.payments.lockAll(invoiceIds, sourceIds);
    return { payments: payments.filter(({ id }) => sourceIds.includes(id)), uses };
  }

  private async post(
    { customerId, currency }: Pick<Payment, 'customerId' | 'currency'>,
    { refundedMinor, lostMinor }: ReturnedMoney,
    origin: CreditOrigin,
  ): Promise<void> {
    const source = { ...origin, customerId };
    await this.ledger.post(postRefundRecovered(currency, refundedMinor), source);
    await this.ledger.post(postLossRecovered(currency, lostMinor), source);
  }
}

function missingOf(payment: Payment, { reserved, refunded, lost }: PaymentCredit): MissingCredit {
  const beyondMinor = refundedBeyondCredit(payment, reserved + refunded);
  const reservedMinor = lesser(beyondMinor, greater(payment.amountRefundPending - reserved, 0n));
  return {
    refundedMinor: beyondMinor - reservedMinor,
    reservedMinor,
    lostMinor: greater(payment.amountLost - lost, 0n),
  };
}

function sumOf(one: ReturnedMoney, other: ReturnedMoney): ReturnedMoney {
  return {
    refundedMinor: one.refundedMinor + other.refundedMinor,
    lostMinor: one.lostMinor + other.lostMinor,
  };
}
