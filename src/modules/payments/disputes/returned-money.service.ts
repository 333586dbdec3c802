import { Injectable } from '@nestjs/common';
import {
  type CoveredCredit,
  CreditBalanceService,
  type CreditUse,
  InvoicePaymentsService,
  NOTHING_COVERED,
} from '../../invoicing';
import { type Payment, returnedOf } from '../domain/payment';
import { type ReturnedParts, returnedParts } from '../domain/refundable';
import { PaymentsRepository } from '../payments.repository';
import { shareLosses } from './domain/share-losses';

export interface ReturnedPayment extends ReturnedParts {
  readonly payment: Payment;
}

/**
 * Lost part of the credit that invoices used, in minor units by invoice id. Credit is lost if refunds or disputes took
 * the money of the payment that the credit came from.
 */
export interface LostCredit {
  /** Credit lost by refunds (pending or succeeded) and by lost disputes. */
  readonly lost: ReadonlyMap<string, bigint>;
  /** Credit that would be lost if all open disputes were lost. Includes the credit in `lost`. */
  readonly lostWithDisputes: ReadonlyMap<string, bigint>;
}

const NOTHING_LOST: LostCredit = { lost: new Map(), lostWithDisputes: new Map() };

/** Computes how much money of payments was given back, and which invoices bear the loss. Changes and locks nothing. */
@Injectable()
export class ReturnedMoneyService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly credit: CreditBalanceService,
    private readonly invoices: InvoicePaymentsService,
  ) {}

  async partsOf(payments: readonly Payment[]): Promise<readonly ReturnedPayment[]> {
    const covered = await this.coveredOf(payments.filter((payment) => returnedOf(payment) > 0n));
    return payments.map((payment) => ({ payment, ...partsWithin(payment, covered) }));
  }

  /**
   * Returns how much of the credit that invoices used is lost. Credit is lost if refunds or disputes took the money of
   * the payment that the credit came from, and no unused credit covered this loss. The invoices that used credit from a
   * payment share its losses ({@link shareLosses}).
   * @param payments must include the payments whose credit the invoices used. Must be locked, except for previews
   */
  async lostCreditOf(
    uses: readonly CreditUse[],
    payments: readonly Payment[],
  ): Promise<LostCredit> {
    const concerned = payments.filter(
      (payment) => mayBeLost(payment) && uses.some(({ sourceId }) => sourceId === payment.id),
    );
    if (concerned.length === 0) return NOTHING_LOST;
    const { payments: all, uses: allUses } = await this.withConnected(concerned);
    const covered = await this.coveredOf(all);
    const losses = new Map(
      all.map((payment) => [payment.id, partsWithin(payment, covered).ofUsedCreditMinor]),
    );
    const withDisputes = new Map(losses);
    for (const { id, isDisputed } of all) {
      if (isDisputed) withDisputes.set(id, (covered.get(id) ?? NOTHING_COVERED).usedMinor);
    }
    if ([...withDisputes.values()].every((minor) => minor === 0n)) return NOTHING_LOST;
    const left = await this.leftOf([...new Set(allUses.map(({ invoiceId }) => invoiceId))]);
    const share = (lossOf: ReadonlyMap<string, bigint>) =>
      shareLosses(
        allUses,
        (id) => lossOf.get(id) ?? 0n,
        (id) => left.get(id) ?? 0n,
      );
    return { lost: share(losses), lostWithDisputes: share(withDisputes) };
  }

  /**
   * Adds the payments whose losses must be divided together with those of `payments`. These are payments with refunds,
   * losses or open disputes, whose credit the same invoices used. Repeats this for the added payments until no payment
   * is added. Does not lock the added payments. Returns all payments, and all uses of their credit.
   */
  private async withConnected(
    payments: readonly Payment[],
  ): Promise<{ readonly payments: readonly Payment[]; readonly uses: readonly CreditUse[] }> {
    const uses = await this.credit.usesOfPayments(payments.map(({ id }) => id));
    const ofInvoices = await this.credit.usesOf([...new Set(uses.map((use) => use.invoiceId))]);
    const otherIds = new Set(ofInvoices.map(({ sourceId }) => sourceId));
    for (const { id } of payments) otherIds.delete(id);
    if (otherIds.size === 0) return { payments, uses };
    const others = await this.payments.findAppliedTo([], [...otherIds]);
    const lost = others.filter(mayBeLost);
    return lost.length === 0 ? { payments, uses } : this.withConnected([...payments, ...lost]);
  }

  /** Returns how much of each invoice can still be credited or refunded. Lost credit is not subtracted. */
  private async leftOf(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const held = await this.invoices.heldByAll(invoiceIds);
    const applied = await this.payments.findAppliedTo(invoiceIds, []);
    const left = new Map(
      [...held].map(([id, { heldMinor, toRefundMinor }]) => [id, heldMinor + toRefundMinor]),
    );
    for (const { payment, refundedMinor, lostMinor } of await this.partsOf(applied)) {
      const id = payment.invoiceId ?? '';
      left.set(id, (left.get(id) ?? 0n) - refundedMinor - lostMinor);
    }
    return left;
  }

  private coveredOf(payments: readonly Payment[]): Promise<ReadonlyMap<string, CoveredCredit>> {
    return this.credit.returnedOf(payments.map(({ id }) => id));
  }
}

const mayBeLost = (payment: Payment): boolean => returnedOf(payment) > 0n || payment.isDisputed;

function partsWithin(payment: Payment, covered: ReadonlyMap<string, CoveredCredit>): ReturnedParts {
  return returnedParts(payment, covered.get(payment.id) ?? NOTHING_COVERED);
}
