import { Injectable } from '@nestjs/common';
import { postLossRecovered } from '../../../core/ledger';
import {
  CreditBalanceService,
  type CreditNote,
  type Invoice,
  NOTHING_RETURNED,
} from '../../invoicing';
import { LedgerService } from '../../ledger';
import type { Payment } from '../domain/payment';
import { PaymentsRepository } from '../payments.repository';
import { lesser } from '../../../core/money';

type LostPayment = Pick<Payment, 'id' | 'customerId' | 'currency' | 'amountLost'>;

export interface DisputedMoney {
  /** Money that open disputes may take back, in minor units. */
  readonly disputedMinor: bigint;
  /** Id of a payment with an open dispute; null if there is no such payment. */
  readonly disputedId: string | null;
}

export const NOTHING_DISPUTED: DisputedMoney = { disputedMinor: 0n, disputedId: null };

/** A locked payment that is to be refunded, and credit that its invoice used, in minor units. */
export interface PaymentForRefund {
  /** Null: the payment does not exist. */
  readonly payment: Payment | null;
  /** Used credit of payments that lost money in disputes, as far as no other credit covered the losses. */
  readonly lostCreditMinor: bigint;
  /** Used credit of payments with open disputes. */
  readonly disputedCredit: DisputedMoney;
}

/**
 * Source and time of the ledger transaction. The source is the object that made credit available, such as a voided
 * invoice.
 */
interface CreditOrigin {
  readonly sourceId: string;
  readonly occurredAt: Date;
}

/**
 * Covers losses from disputes with unused credit of the disputed payments, including credit that becomes available
 * after the loss.
 */
@Injectable()
export class LostCreditService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly credit: CreditBalanceService,
    private readonly ledger: LedgerService,
  ) {}

  /**
   * Locks the payments of the invoices, and the payments whose credit the invoices used, until the caller's transaction
   * ends. Must be called before credit is locked. Returns the payments whose credit the invoices used and that lost
   * money in disputes.
   */
  async lockLost(
    invoices: readonly Pick<Invoice, 'id' | 'credits'>[],
  ): Promise<readonly Payment[]> {
    const { payments } = await this.lockSources(invoices);
    return payments.filter(({ amountLost }) => amountLost > 0n);
  }

  /**
   * Locks and returns the same payments as {@link lockLost}, for one invoice. Also returns the amount of credit that
   * the invoice used from payments with open disputes.
   */
  async lockDisputed(
    invoice: Pick<Invoice, 'id' | 'credits'>,
  ): Promise<DisputedMoney & { readonly lost: readonly Payment[] }> {
    const { payments, sources } = await this.lockSources([invoice]);
    const lost = payments.filter(({ amountLost }) => amountLost > 0n);
    return { lost, ...disputedCreditOf(invoice, payments, sources) };
  }

  /**
   * Locks a payment that is to be refunded, the other payments of its invoice, and the payments whose credit this
   * invoice used, until the caller's transaction ends. Must be called before credit is locked.
   * @param invoice the invoice of the payment; null: it has none
   */
  async lockForRefund(
    paymentId: string,
    invoice: Pick<Invoice, 'id' | 'credits'> | null,
  ): Promise<PaymentForRefund> {
    const credits = invoice?.credits ?? [];
    const sources = await this.credit.sourcesOf(credits.map(({ creditId }) => creditId));
    const sourceIds = [...sources.values()];
    const locked = await this.payments.lockWithOthersOfInvoice(paymentId, sourceIds);
    const payment = locked.find(({ id }) => id === paymentId) ?? null;
    if (invoice === null) return { payment, lostCreditMinor: 0n, disputedCredit: NOTHING_DISPUTED };
    const origins = locked.filter(({ id }) => sourceIds.includes(id));
    return {
      payment,
      lostCreditMinor: await this.lostCreditOf(invoice, origins),
      disputedCredit: disputedCreditOf(invoice, origins, sources),
    };
  }

  /**
   * Covers losses of locked payments of one customer with the available credit of these payments, and posts the amount
   * to the ledger. Takes at most the losses that are not covered yet.
   */
  async coverLosses(payments: readonly LostPayment[], origin: CreditOrigin): Promise<void> {
    let amountMinor = 0n;
    for (const payment of payments) amountMinor += await this.coverLossUnposted(payment);
    const [payment] = payments;
    if (payment !== undefined) await this.post(payment, amountMinor, origin);
  }

  /** Covers the loss of one locked payment with its available credit. Posts nothing. Returns the credit used. */
  async coverLossUnposted({ id, amountLost }: Pick<Payment, 'id' | 'amountLost'>): Promise<bigint> {
    if (amountLost === 0n) return 0n;
    const { lost } = await this.credit.lockOf(id);
    return this.credit.takeLost(id, amountLost - lost);
  }

  /**
   * Covers losses of locked payments with credit that a credit note gave, and posts the amount to the ledger. The
   * credited invoice had used credit of these payments. Takes at most the losses that are not covered yet.
   */
  async coverLossesFromNote(
    payments: readonly LostPayment[],
    invoice: Pick<Invoice, 'id' | 'credits'>,
    note: CreditNote,
    now: Date,
  ): Promise<void> {
    if (note.toCredit === 0n) return;
    let amountMinor = 0n;
    for (const { payment, usedMinor } of await this.usesOf(invoice, payments)) {
      const { id, amountLost } = payment;
      const { lost, used } = await this.credit.lockOf(id);
      const maxMinor = lesser(lesser(amountLost - lost, used), usedMinor);
      if (maxMinor > 0n) amountMinor += await this.credit.takeLostOfNote(note.id, id, maxMinor);
    }
    await this.post(note, amountMinor, { sourceId: note.id, occurredAt: now });
  }

  /**
   * Returns how much of the credit that an invoice used was lost with the payments it came from, less the losses that
   * credit already covered. The caller has locked the payments.
   */
  private async lostCreditOf(
    invoice: Pick<Invoice, 'id' | 'credits'>,
    payments: readonly Payment[],
  ): Promise<bigint> {
    const lost = payments.filter(({ amountLost }) => amountLost > 0n);
    const covered = await this.credit.returnedOf(lost.map(({ id }) => id));
    const uses = await this.usesOf(invoice, lost);
    return uses.reduce((sum, { payment: { id, amountLost }, usedMinor }) => {
      const { lostMinor } = covered.get(id) ?? NOTHING_RETURNED;
      return sum + lesser(amountLost - lostMinor, usedMinor);
    }, 0n);
  }

  /**
   * Returns how much credit an invoice used of each of the payments, less what its credit notes returned to cover
   * losses. Earlier notes covered losses in the same order of payments, so their sum is divided in this order.
   */
  private async usesOf<Of extends Pick<Payment, 'id'>>(
    { id, credits }: Pick<Invoice, 'id' | 'credits'>,
    payments: readonly Of[],
  ): Promise<readonly { readonly payment: Of; readonly usedMinor: bigint }[]> {
    if (payments.length === 0) return [];
    const sources = await this.credit.sourcesOf(credits.map(({ creditId }) => creditId));
    let taken = await this.credit.lostOfNotes(id);
    return payments.map((payment) => {
      const usedMinor = credits
        .filter(({ creditId }) => sources.get(creditId) === payment.id)
        .reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
      const takenHere = lesser(taken, usedMinor);
      taken -= takenHere;
      return { payment, usedMinor: usedMinor - takenHere };
    });
  }

  /**
   * Locks the same payments as {@link lockLost}. Returns the payments whose credit the invoices used. `sources` maps
   * the id of each used credit to the id of the object that the credit came from.
   */
  private async lockSources(invoices: readonly Pick<Invoice, 'id' | 'credits'>[]) {
    const used = invoices.flatMap(({ credits }) => credits.map(({ creditId }) => creditId));
    const sources = await this.credit.sourcesOf(used);
    const sourceIds = [...sources.values()];
    const invoiceIds = invoices.map(({ id }) => id);
    const payments = await this.payments.lockAll(invoiceIds, sourceIds);
    return { payments: payments.filter(({ id }) => sourceIds.includes(id)), sources };
  }

  private async post(
    { customerId, currency }: Pick<Payment, 'customerId' | 'currency'>,
    amountMinor: bigint,
    origin: CreditOrigin,
  ): Promise<void> {
    if (amountMinor === 0n) return;
    await this.ledger.post(postLossRecovered({ currency, amountMinor }), { ...origin, customerId });
  }
}

/** @param sources id of the object that each used credit came from, by credit id */
function disputedCreditOf(
  { credits }: Pick<Invoice, 'credits'>,
  payments: readonly Payment[],
  sources: ReadonlyMap<string, string>,
): DisputedMoney {
  const disputed = payments.filter(({ isDisputed }) => isDisputed).map(({ id }) => id);
  const used = credits
    .map(({ creditId, amountMinor }) => ({ sourceId: sources.get(creditId) ?? '', amountMinor }))
    .filter(({ sourceId }) => disputed.includes(sourceId));
  return {
    disputedMinor: used.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
    disputedId: used[0]?.sourceId ?? null,
  };
}
