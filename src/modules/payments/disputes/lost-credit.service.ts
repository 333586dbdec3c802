import { Injectable } from '@nestjs/common';
import { postLossRecovered } from '../../../core/ledger';
import { CreditBalanceService, type CreditNote, type Invoice } from '../../invoicing';
import { LedgerService } from '../../ledger';
import type { Payment } from '../domain/payment';
import { PaymentsRepository } from '../payments.repository';
import { lesser } from '../../../core/money';

/** Fields of a payment that may have lost money in disputes. */
type LostPayment = Pick<Payment, 'id' | 'customerId' | 'currency' | 'amountLost'>;

/**
 * Money that open disputes may take back, in minor units, and the id of a payment with an open dispute; the id is null if there
 * is none.
 */
export interface DisputedMoney {
  readonly disputedMinor: bigint;
  readonly disputedId: string | null;
}

/** Object that made credit available, and the time at which it did. Both go into the ledger transaction. */
interface CreditOrigin {
  readonly sourceId: string;
  readonly occurredAt: Date;
}

/**
 * Recovers money that was lost in disputes from unused credit of the disputed payments, also from credit that becomes available
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
   * Locks the payments of these invoices, and the payments whose credit these invoices used, until the caller's transaction
   * ends. Call it before locking credit. Returns the payments of the used credit that lost money in disputes.
   */
  async lockLost(
    invoices: readonly Pick<Invoice, 'id' | 'credits'>[],
  ): Promise<readonly Payment[]> {
    const { payments } = await this.lockSources(invoices);
    return payments.filter(({ amountLost }) => amountLost > 0n);
  }

  /**
   * Locks payments as {@link lockLost} does, for one invoice. Returns also how much credit of payments with open disputes the
   * invoice used.
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
   * Takes available credit of locked payments of one customer, up to the losses that no credit has covered yet, and posts it to
   * the ledger.
   */
  async coverLosses(payments: readonly LostPayment[], origin: CreditOrigin): Promise<void> {
    let amountMinor = 0n;
    for (const payment of payments) amountMinor += await this.coverLossUnposted(payment);
    const [payment] = payments;
    if (payment !== undefined) await this.post(payment, amountMinor, origin);
  }

  /** Takes credit of a locked payment as {@link coverLosses} does, without posting it. Returns the amount. */
  async coverLossUnposted({ id, amountLost }: Pick<Payment, 'id' | 'amountLost'>): Promise<bigint> {
    if (amountLost === 0n) return 0n;
    const { lost } = await this.credit.lockOf(id);
    return this.credit.takeLost(id, amountLost - lost);
  }

  /**
   * Takes credit that a credit note gave for an invoice, which had used credit of the locked payments, and posts it to the
   * ledger. Takes at most the losses of these payments that no credit has covered yet.
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
      // Earlier credit notes of the invoice took credit of the payments in the same sequence.
      const takenHere = lesser(taken, usedHere);
      taken -= takenHere;
      const maxMinor = lesser(lesser(amountLost - lost, used), usedHere - takenHere);
      if (maxMinor > 0n) amountMinor += await this.credit.takeLostOfNote(note.id, id, maxMinor);
    }
    await this.post(note, amountMinor, { sourceId: note.id, occurredAt: now });
  }

  /**
   * Locks the payments as {@link lockLost} does. Returns the payments whose credit was used, and the source id of each used
   * credit, by credit id.
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
