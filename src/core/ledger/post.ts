import { invariant } from '../invariant';
import {
  transaction,
  type LedgerAccount,
  type LedgerTransaction,
  type Posting,
} from './transaction';

/** The amounts of one line of a finalized invoice, negative for a credit. */
export type RevenueLine = {
  /** Amount after discounts, without tax. */
  readonly netMinor: bigint;
  readonly discountMinor: bigint;
  readonly taxMinor: bigint;
  /** True if the net amount is earned over time instead of at finalization. */
  readonly isDeferred: boolean;
};

/**
 * Posts a finalized invoice. Debits the receivable with the total less the applied credit. A negative total becomes
 * credit of the customer. Discounts are debited to an account of their own, and revenue is credited before discount. A
 * deferred line of 100 with a discount of 20 defers 80, and posts 20 at once as revenue and as discount. Later, exactly
 * the deferred amount is moved to revenue.
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
 * Posts a succeeded payment. Debits the cash clearing account of the provider. Credits `toReceivableMinor`, which pays
 * an invoice, to the receivable. Credits the remaining amount to the customer's credit.
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
 * Posts that a payment becomes customer credit, because its invoice was voided. Debits `appliedMinor` to the
 * receivable, and credits it to three accounts:
 * - `refundedMinor` to the refunds account, where it balances an earlier refund
 * - `lostMinor`, lost by a dispute, to the dispute losses
 * - the remaining amount to the customer's credit
 * @throws InvariantError when a part is negative, or the parts exceed `appliedMinor`.
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
 * Posts a succeeded refund. Credits the whole amount to the cash clearing account of the provider. Debits
 * `fromCreditMinor` to the customer's credit: this part is covered by available credit from the refunded payment.
 * Debits the remaining amount to the refunds account, where it balances a credit note that is settled as a refund.
 * @throws InvariantError when `fromCreditMinor` is negative or exceeds the amount.
 */
export function postRefund(refund: {
  readonly currency: string;
  readonly provider: string;
  readonly amountMinor: bigint;
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
 * Posts that the money of a succeeded refund came back from the customer's bank. Debits the cash clearing account of
 * the provider with `amountMinor`, and credits:
 * - the customer's credit with `toCreditMinor` - `recoveredMinor`
 * - the dispute losses with `recoveredMinor`
 * - the refunds account with `amountMinor` - `toCreditMinor`
 * @throws InvariantError when `toCreditMinor` or `recoveredMinor` is negative, or `toCreditMinor` exceeds the amount.
 */
export function postRefundReturned(returned: {
  readonly currency: string;
  readonly provider: string;
  readonly amountMinor: bigint;
  /** Part of the amount that the refund had taken from the customer's credit. */
  readonly toCreditMinor: bigint;
  /** Part of the customer's credit that is used at once to cover losses of a dispute. */
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

/** Posts funds that a provider withdrew for a dispute. The account `disputed` holds them while the dispute is open. */
export function postDisputeWithdrawn(withdrawn: {
  readonly currency: string;
  readonly provider: string;
  readonly amountMinor: bigint;
}): LedgerTransaction {
  const { currency, provider, amountMinor } = withdrawn;
  const clearing = `cash_clearing:${provider}` as const;
  return post('dispute_withdrawn', currency, 'disputed', clearing, amountMinor);
}

/**
 * Posts a lost dispute. Credits the amount to the `disputed` account. Debits `fromCreditMinor` to the customer's
 * credit, and the remaining amount to the dispute losses.
 * @throws InvariantError when `fromCreditMinor` is negative or exceeds the amount.
 */
export function postDisputeLost(lost: {
  readonly currency: string;
  readonly amountMinor: bigint;
  /** Part of the amount that is covered by available customer credit from the disputed payment. */
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
 * Posts disputed funds that a provider paid back. For a dispute that was lost before, also reverses the posted loss,
 * and gives the customer back the credit that covered the dispute.
 * @throws InvariantError when a part is negative, or the parts exceed the amount.
 */
export function postDisputeReinstated(reinstated: {
  readonly currency: string;
  readonly provider: string;
  readonly amountMinor: bigint;
  /** Part of the amount that had been posted as a loss. */
  readonly fromLossesMinor: bigint;
  /** Part of the amount that the lost dispute had taken from the customer's credit. */
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

/**
 * Posts customer credit that covers a refund, if the credit became available only after the refund was paid out.
 * Credits the refunds account, which the refund had debited.
 */
export function postRefundRecovered(currency: string, amountMinor: bigint): LedgerTransaction {
  return post('refund', currency, 'customer_credit', 'refunds', amountMinor);
}

/** Posts the part of a dispute loss that customer credit covers, if the credit became available only after the loss. */
export function postLossRecovered(currency: string, amountMinor: bigint): LedgerTransaction {
  return post('dispute_lost', currency, 'customer_credit', 'dispute_losses', amountMinor);
}

/**
 * Posts a credit note: debits revenue, deferred revenue and tax. The total is credited in three parts: to the
 * receivable, the customer's credit and the refunds account.
 * @throws InvariantError when a part is negative, the parts do not add up to the total, or the deferred part exceeds
 *   the net.
 */
export function postCreditNote(note: {
  readonly currency: string;
  readonly netMinor: bigint;
  readonly taxMinor: bigint;
  /** Part of the net amount that was not yet released to revenue. */
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

/** Posts the use of customer credit to pay an invoice that is already finalized. */
export function postCreditApplied(currency: string, amountMinor: bigint): LedgerTransaction {
  return post('credit_applied', currency, 'customer_credit', 'accounts_receivable', amountMinor);
}

/**
 * Posts a void: the reverse of all postings of an invoice or a credit note. Credit that was applied to the invoice
 * becomes credit of the customer again.
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
 * Posts a write-off: the unpaid amount of an uncollectible invoice becomes bad debt.
 * @throws InvariantError when the amount is negative.
 */
export function postWriteOff(currency: string, amountMinor: bigint): LedgerTransaction {
  return post('write_off', currency, 'bad_debt', 'accounts_receivable', amountMinor);
}

/**
 * Moves a written-off amount from bad debt back to the receivable, before an uncollectible invoice is paid or voided.
 * @throws InvariantError when the amount is negative.
 */
export function postRecovery(currency: string, amountMinor: bigint): LedgerTransaction {
  return post('recovery', currency, 'accounts_receivable', 'bad_debt', amountMinor);
}

/** Moves earned revenue from deferred revenue to revenue. A negative amount reverses an earlier release. */
export function postRevenueRelease(currency: string, amountMinor: bigint): LedgerTransaction {
  return transaction('revenue_release', currency, [
    debit('deferred_revenue', amountMinor),
    credit('revenue', amountMinor),
  ]);
}

/**
 * Posts one amount, which debits one account and credits another.
 * @throws InvariantError when the amount is negative.
 */
function post(
  kind: LedgerTransaction['kind'],
  currency: string,
  debited: LedgerAccount,
  credited: LedgerAccount,
  amountMinor: bigint,
): LedgerTransaction {
  assertPart(0n, amountMinor);
  return transaction(kind, currency, [debit(debited, amountMinor), credit(credited, amountMinor)]);
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
