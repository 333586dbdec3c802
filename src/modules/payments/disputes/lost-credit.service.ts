import { Injectable } from '@nestjs/common';
import { postLossRecovered } from '../../../core/ledger';
import { CreditBalanceService, type CreditNote, type Invoice } from '../../invoicing';
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
    const ids = payments.filter(({ isDisputed }) => isDisputed).map(({ id }) => id);
    const disputedMinor = invoice.credits
      .filter(({ creditId }) => ids.includes(sources.get(creditId) ?? ''))
      .reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    const lost = payments.filter(({ amountLost }) => amountLost > 0n);
    return { lost, disputedMinor, disputedId: ids[0] ?? null };
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
    if (payments.length === 0 || note.toCredit === 0n) return;
    let taken = await this.credit.lostOfNotes(invoice.id);
    let amountMinor = 0n;
    for (const { id, amountLost } of payments) {
      const { creditId, lost, used } = await this.credit.lockOf(id);
      const usedHere = invoice.credits
        .filter((one) => one.creditId === creditId)
        .reduce((sum, one) => sum + one.amountMinor, 0n);
      // Earlier credit notes of the invoice covered losses in the same order of payments, so `taken` is divided in this
      // order.
      const takenHere = lesser(taken, usedHere);
      taken -= takenHere;
      const maxMinor = lesser(lesser(amountLost - lost, used), usedHere - takenHere);
      if (maxMinor > 0n) amountMinor += await this.credit.takeLostOfNote(note.id, id, maxMinor);
    }
    await this.post(note, amountMinor, { sourceId: note.id, occurredAt: now });
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
