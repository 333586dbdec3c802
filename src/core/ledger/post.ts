import { invariant } from '../invariant';
import {
  transaction,
  type LedgerAccount,
  type LedgerTransaction,
  type Posting,
} from './transaction';

/** A line of a finalized invoice as the ledger needs it, negative for a credit. */
export type RevenueLine = {
  /** After discounts, without tax. */
  readonly netMinor: bigint;
  readonly discountMinor: bigint;
  readonly taxMinor: bigint;
  /** True if the net is earned over a future period instead of with the invoice. */
  readonly isDeferred: boolean;
};

/**
 * Posts a finalized invoice: the customer owes the total, less what credit pays. Revenue is posted before discounts, and
 * discounts on their own account. The net of a line paid in advance is deferred, but its discount is not, so that later releases
 * add up to the net. A negative total becomes credit of the customer.
 * @throws InvariantError when the applied credit is negative or exceeds the total.
 */
export function postInvoice(invoice: {
  readonly currency: string;
  readonly lines: readonly RevenueLine[];
  readonly creditAppliedMinor: bigint;
}): LedgerTransaction {
  const { currency, lines, creditAppliedMinor } = invoice;
  const totalMinor = lines.reduce((sum, { netMinor, taxMinor }) => sum + netMinor + taxMinor, 0n);
  invariant(
    creditAppliedMinor >= 0n && creditAppliedMinor <= (totalMinor > 0n ? totalMinor : 0n),
    'credit pays at most the total',
  );
  const owed: Posting[] =
    totalMinor < 0n
      ? [debit('customer_credit', totalMinor)]
      : [
          debit('accounts_receivable', totalMinor - creditAppliedMinor),
          debit('customer_credit', creditAppliedMinor),
        ];
  const earned = lines.flatMap(({ netMinor, discountMinor, taxMinor, isDeferred }) => [
    credit(isDeferred ? 'deferred_revenue' : 'revenue', netMinor),
    credit('revenue', discountMinor),
    debit('discounts', discountMinor),
    credit('tax_payable', taxMinor),
  ]);
  return transaction('invoice_finalized', currency, [...owed, ...earned]);
}

/**
 * Posts a succeeded payment: debits the cash of the provider, and credits the receivable with the part that pays an invoice and
 * the customer's credit with the rest.
 * @throws InvariantError when `toReceivableMinor` is negative or exceeds the amount.
 */
export function postPayment(payment: {
  readonly currency: string;
  readonly provider: string;
  readonly amountMinor: bigint;
  readonly toReceivableMinor: bigint;
}): LedgerTransaction {
  const { currency, provider, amountMinor, toReceivableMinor } = payment;
  assertPart(toReceivableMinor, amountMinor);
  return transaction('payment', currency, [
    debit(`cash_clearing:${provider}`, amountMinor),
    credit('accounts_receivable', toReceivableMinor),
    credit('customer_credit', amountMinor - toReceivableMinor),
  ]);
}

/**
 * Moves the payment of a voided invoice to the customer's credit. The part already refunded is posted to the refunds account
 * instead, where it balances that refund, and the part that a dispute took is posted against its loss.
 *
 * @throws InvariantError when a part is negative, or the parts exceed the payment.
 */
export function postPaymentReturned(returned: {
  readonly currency: string;
  readonly appliedMinor: bigint;
  readonly refundedMinor: bigint;
  readonly lostMinor: bigint;
}): LedgerTransaction {
  const { currency, appliedMinor, refundedMinor, lostMinor } = returned;
  assertPart(refundedMinor, appliedMinor);
  assertPart(lostMinor, appliedMinor - refundedMinor);
  return transaction('void', currency, [
    debit('accounts_receivable', appliedMinor),
    credit('customer_credit', appliedMinor - refundedMinor - lostMinor),
    credit('refunds', refundedMinor),
    credit('dispute_losses', lostMinor),
  ]);
}

/**
 * Posts a succeeded refund: credits the cash of the provider. The part of the payment that had become credit of the customer
 * reduces that credit. The rest is posted to refunds, where a credit note settled as a refund balances it. Changes no invoice.
 * @throws InvariantError when `fromCreditMinor` is negative or exceeds the amount.
 */
export function postRefund(refund: {
  readonly currency: string;
  readonly provider: string;
  readonly amountMinor: bigint;
  /** The part that was the customer's credit. */
  readonly fromCreditMinor: bigint;
}): LedgerTransaction {
  const { currency, provider, amountMinor, fromCreditMinor } = refund;
  assertPart(fromCreditMinor, amountMinor);
  return transaction('refund', currency, [
    debit('customer_credit', fromCreditMinor),
    debit('refunds', amountMinor - fromCreditMinor),
    credit(`cash_clearing:${provider}`, amountMinor),
  ]);
}

/**
 * Posts a succeeded refund that the customer's bank returned: debits the cash of the provider, and restores the customer's credit
 * that the refund had reduced, less the part that recovers a loss from a dispute.
 * @throws InvariantError when a part is negative, or `toCreditMinor` exceeds the amount.
 */
export function postRefundReturned(returned: {
  readonly currency: string;
  readonly provider: string;
  readonly amountMinor: bigint;
  /** The part that is the customer's credit again. */
  readonly toCreditMinor: bigint;
  /** Credit of the payment that recovers a loss from a dispute. */
  readonly recoveredMinor: bigint;
}): LedgerTransaction {
  const { currency, provider, amountMinor, toCreditMinor, recoveredMinor } = returned;
  assertPart(toCreditMinor, amountMinor);
  assertPart(0n, recoveredMinor);
  return transaction('void', currency, [
    debit(`cash_clearing:${provider}`, amountMinor),
    credit('customer_credit', toCreditMinor - recoveredMinor),
    credit('dispute_losses', recoveredMinor),
    credit('refunds', amountMinor - toCreditMinor),
  ]);
}

/** Posts funds that a provider withdrew for a dispute. Until the dispute is decided, they are neither cash nor lost. */
export function postDisputeWithdrawn(withdrawn: {
  readonly currency: string;
  readonly provider: string;
  readonly amountMinor: bigint;
}): LedgerTransaction {
  const { currency, provider, amountMinor } = withdrawn;
  assertPart(0n, amountMinor);
  return transaction('dispute_withdrawn', currency, [
    debit('disputed', amountMinor),
    credit(`cash_clearing:${provider}`, amountMinor),
  ]);
}

/**
 * Posts a lost dispute. The part of the payment that had become credit of the customer reduces that credit; the rest is a loss.
 * Reopens no invoice.
 * @throws InvariantError when `fromCreditMinor` is negative or exceeds the amount.
 */
export function postDisputeLost(lost: {
  readonly currency: string;
  readonly amountMinor: bigint;
  /** The part that was the customer's credit. */
  readonly fromCreditMinor: bigint;
}): LedgerTransaction {
  const { currency, amountMinor, fromCreditMinor } = lost;
  assertPart(fromCreditMinor, amountMinor);
  return transaction('dispute_lost', currency, [
    debit('customer_credit', fromCreditMinor),
    debit('dispute_losses', amountMinor - fromCreditMinor),
    credit('disputed', amountMinor),
  ]);
}

/**
 * Posts disputed funds that a provider paid back. Reverses the loss, and restores the credit that it had reduced.
 * @throws InvariantError when the parts are more than the amount.
 */
export function postDisputeReinstated(reinstated: {
  readonly currency: string;
  readonly provider: string;
  readonly amountMinor: bigint;
  /** The part that was a loss. */
  readonly fromLossesMinor: bigint;
  /** The part that is the customer's credit again. */
  readonly toCreditMinor: bigint;
}): LedgerTransaction {
  const { currency, provider, amountMinor, fromLossesMinor, toCreditMinor } = reinstated;
  assertPart(fromLossesMinor, amountMinor);
  assertPart(toCreditMinor, amountMinor - fromLossesMinor);
  return transaction('dispute_reinstated', currency, [
    debit(`cash_clearing:${provider}`, amountMinor),
    credit('dispute_losses', fromLossesMinor),
    credit('customer_credit', toCreditMinor),
    credit('disputed', amountMinor - fromLossesMinor - toCreditMinor),
  ]);
}

/** Posts credit from a lost disputed payment that became available only after the loss. The credit reduces the loss. */
export function postLossRecovered(recovered: {
  readonly currency: string;
  readonly amountMinor: bigint;
}): LedgerTransaction {
  const { currency, amountMinor } = recovered;
  assertPart(0n, amountMinor);
  return transaction('dispute_lost', currency, [
    debit('customer_credit', amountMinor),
    credit('dispute_losses', amountMinor),
  ]);
}

/**
 * Posts a credit note: takes back revenue (the deferred part from deferred revenue) and tax, and settles them against the
 * receivable, as credit of the customer, or as a refund to come.
 * @throws InvariantError when the settlement differs from the total, or the deferred part exceeds the net.
 */
export function postCreditNote(note: {
  readonly currency: string;
  readonly netMinor: bigint;
  readonly taxMinor: bigint;
  /** The part of the net that was not yet released to revenue. */
  readonly deferredMinor: bigint;
  readonly toReceivableMinor: bigint;
  readonly toCreditMinor: bigint;
  readonly toRefundMinor: bigint;
}): LedgerTransaction {
  assertPart(note.deferredMinor, note.netMinor);
  const settled = [note.toReceivableMinor, note.toCreditMinor, note.toRefundMinor];
  invariant(
    settled.every((part) => part >= 0n),
    'a credit note settles nothing negative',
  );
  return transaction('credit_note', note.currency, [
    debit('deferred_revenue', note.deferredMinor),
    debit('revenue', note.netMinor - note.deferredMinor),
    debit('tax_payable', note.taxMinor),
    credit('accounts_receivable', note.toReceivableMinor),
    credit('customer_credit', note.toCreditMinor),
    credit('refunds', note.toRefundMinor),
  ]);
}

/** Posts credit of the customer that pays an invoice after its finalization. */
export function postCreditApplied(currency: string, amountMinor: bigint): LedgerTransaction {
  assertPart(0n, amountMinor);
  return transaction('credit_applied', currency, [
    debit('customer_credit', amountMinor),
    credit('accounts_receivable', amountMinor),
  ]);
}

/**
 * Posts a void: the reverse of all postings of an invoice or a credit note. Credit that had paid for an invoice returns to the
 * customer.
 * @throws InvariantError when the transactions are in different currencies.
 */
export function postVoid(
  currency: string,
  posted: readonly LedgerTransaction[],
): LedgerTransaction {
  invariant(
    posted.every((one) => one.currency === currency),
    'one invoice has one currency',
  );
  const mirrored = posted.flatMap(({ postings }) =>
    postings.map(({ account, amountMinor }) => ({ account, amountMinor: -amountMinor })),
  );
  return transaction('void', currency, mirrored);
}

/**
 * Posts a write-off: what an uncollectible invoice still owes becomes bad debt.
 * @throws InvariantError when the amount is negative.
 */
export function postWriteOff(currency: string, amountMinor: bigint): LedgerTransaction {
  assertPart(0n, amountMinor);
  return transaction('write_off', currency, [
    debit('bad_debt', amountMinor),
    credit('accounts_receivable', amountMinor),
  ]);
}

/**
 * Posts the return of a written-off amount to the receivables, before an uncollectible invoice is paid or voided.
 * @throws InvariantError when the amount is negative.
 */
export function postRecovery(currency: string, amountMinor: bigint): LedgerTransaction {
  assertPart(0n, amountMinor);
  return transaction('recovery', currency, [
    debit('accounts_receivable', amountMinor),
    credit('bad_debt', amountMinor),
  ]);
}

/** Posts deferred revenue that has been earned; a negative amount reverses an earlier release. */
export function postRevenueRelease(currency: string, amountMinor: bigint): LedgerTransaction {
  return transaction('revenue_release', currency, [
    debit('deferred_revenue', amountMinor),
    credit('revenue', amountMinor),
  ]);
}

function debit(account: LedgerAccount, amountMinor: bigint): Posting {
  return { account, amountMinor };
}

function credit(account: LedgerAccount, amountMinor: bigint): Posting {
  return { account, amountMinor: -amountMinor };
}

function assertPart(partMinor: bigint, wholeMinor: bigint): void {
  invariant(partMinor >= 0n && partMinor <= wholeMinor, 'a part is from zero to the whole');
}
