import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '../../platform/database';
import { newId } from '../../platform/ids';
import { CustomersService } from '../customers';
import { ALL_TRANSACTIONS, LedgerService, type PostedTransaction } from '../ledger';
import { CreditGrantsRepository } from './credit-grants.repository';
import {
  type CreditBalance,
  newGrant,
  type StoredCreditGrant,
  usedByInvoices,
} from './domain/credit-grant';

/** Money of a payment that becomes credit of its customer, in minor units. */
export interface PaymentCredit {
  readonly paymentId: string;
  readonly customerId: string;
  readonly currency: string;
  readonly amount: bigint;
  /** The parts of it that pending refunds have reserved, that refunds gave back, and that disputes took. */
  readonly reserved: bigint;
  readonly refunded: bigint;
  readonly lost: bigint;
}

/** The credit that a payment became, in minor units. */
export interface CreditOfPayment {
  /** Null where the payment became none. */
  readonly creditId: string | null;
  readonly reserved: bigint;
  readonly refunded: bigint;
  /** Taken by lost disputes. */
  readonly lost: bigint;
  /** Used by invoices, so that it cannot be refunded. */
  readonly used: bigint;
}

const NO_CREDIT: CreditOfPayment = {
  creditId: null,
  reserved: 0n,
  refunded: 0n,
  lost: 0n,
  used: 0n,
};

/** The credit balance of customers, and the part of it that payments brought. */
@Injectable()
export class CreditBalanceService {
  constructor(
    private readonly grants: CreditGrantsRepository,
    private readonly customers: CustomersService,
    private readonly ledger: LedgerService,
  ) {}

  /** @throws {ProblemError} `customer_not_found` */
  async balanceOf(customerId: string): Promise<CreditBalance> {
    const { currency } = await this.customers.get(customerId);
    return { customerId, currency, ...(await this.grants.balanceOf(customerId)) };
  }

  /**
   * The ledger transactions that changed the balance of a customer.
   * @throws {ProblemError} `customer_not_found`
   */
  async transactionsOf(customerId: string, request: PageRequest): Promise<Page<PostedTransaction>> {
    await this.customers.get(customerId);
    return this.ledger.list(
      { ...ALL_TRANSACTIONS, customerId, account: 'customer_credit' },
      request,
    );
  }

  /** Adds money of a payment to the balance, in the caller's transaction, which has locked the payment. */
  async add(credit: PaymentCredit, now: Date): Promise<void> {
    const { paymentId: sourceId, customerId, currency, amount, reserved, refunded, lost } = credit;
    if (amount === 0n) return;
    const grant = newGrant({
      id: newId('crd'),
      customerId,
      currency,
      amount,
      sourceId,
      createdAt: now,
    });
    const remaining = amount - reserved - refunded - lost;
    await this.grants.add({ ...grant, remaining, reserved, refunded, lost });
  }

  /** Returns what credits come from, by credit id: invoices, credit notes and payments. */
  sourcesOf(creditIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.grants.sourcesOf(creditIds);
  }

  /** Locks the credit that a locked payment became, until the caller's transaction ends. */
  async lockOf(paymentId: string): Promise<CreditOfPayment> {
    return creditOf(await this.grants.lockOf(paymentId));
  }

  /** Returns the credit of payments that refunds gave back or have reserved, and that disputes took, in minor units by payment id. */
  refundedOf(paymentIds: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    return this.grants.refundedOf(paymentIds);
  }

  /** Reserves for a refund what is left of the credit that a locked payment became, up to an amount. */
  async reserve(paymentId: string, amount: bigint): Promise<CreditOfPayment> {
    return creditOf(await this.grants.reserve(paymentId, amount));
  }

  /** Takes a refund that succeeded out of what is reserved of the credit; returns the part that was credit. */
  takeRefund(paymentId: string, amount: bigint): Promise<bigint> {
    return this.grants.takeReserved(paymentId, amount);
  }

  /**
   * Takes what is unused of the credit that a locked payment became, up to an amount, because a dispute about the payment was
   * lost; negative gives it back. Returns how much that was.
   */
  takeLost(paymentId: string, amount: bigint): Promise<bigint> {
    return this.grants.takeLost(paymentId, amount);
  }

  /** Returns what lost disputes took of the credit that the notes of a locked invoice gave, in minor units. */
  lostOfNotes(invoiceId: string): Promise<bigint> {
    return this.grants.lostOfNotes(invoiceId);
  }

  /**
   * Takes credit that a note gives back for an invoice, up to an amount, because a dispute about the payment was lost whose
   * credit the invoice had used: it counts as credit of the payment that was lost. Returns how much that was.
   * @param amount at most what invoices have used of the credit of the payment
   */
  takeLostOfNote(noteId: string, paymentId: string, amount: bigint): Promise<bigint> {
    return this.grants.loseAtOrigin(noteId, paymentId, amount);
  }

  /**
   * Makes the credit of a refund that a bank returned available again; returns how much that is.
   * @param stillRefunded what other refunds of the payment gave back
   */
  returnRefund(paymentId: string, stillRefunded: bigint): Promise<bigint> {
    return this.grants.returnRefunded(paymentId, stillRefunded);
  }

  /**
   * Makes the credit that a failed refund reserved available again.
   * @param stillPending what other pending refunds of the payment reserve
   */
  releaseRefund(paymentId: string, stillPending: bigint): Promise<void> {
    return this.grants.releaseReserved(paymentId, stillPending);
  }
}

function creditOf(grant: StoredCreditGrant | null): CreditOfPayment {
  if (grant === null) return NO_CREDIT;
  const { id: creditId, reserved, refunded, lost } = grant;
  return { creditId, reserved, refunded, lost, used: usedByInvoices(grant) };
}
