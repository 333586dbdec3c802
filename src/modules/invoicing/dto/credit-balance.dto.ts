import { isWireSafe } from '../../../core/money';
import {
  IdProperty,
  InstantProperty,
  IntegerProperty,
  TextProperty,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import type { PostedTransaction } from '../../ledger';
import type { CreditBalance } from '../domain/credit-grant';
import { creditBalanceTooLarge } from '../invoicing.errors';

export class CreditBalanceDto {
  @IdProperty('cus_01h455vb4pex5vsknk084sn02q') readonly customer_id!: string;
  @TextProperty(
    'ISO 4217; null until the first amount fixes the currency of the customer.',
    'EUR',
    { nullable: true },
  )
  readonly currency!: string | null;
  @IntegerProperty(
    'Credit of the customer in minor units: `available` and `reserved` together. It equals the account `customer_credit` of the ledger.',
    2500,
  )
  readonly balance!: number;
  @IntegerProperty('The part that the next invoices use, the oldest credit first.', 2000)
  readonly available!: number;
  @IntegerProperty('The part that pending refunds have reserved.', 500) readonly reserved!: number;
}

export class CreditBalanceTransactionDto {
  @IdProperty('ltx_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Kind of the ledger transaction that changed the balance.', 'invoice_finalized')
  readonly type!: string;
  @IntegerProperty(
    'Change of the balance in minor units: positive adds credit, negative uses it.',
    -1500,
  )
  readonly amount!: number;
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @TextProperty(
    'The invoice, credit note, payment or refund that changed the balance.',
    'inv_01h455vb4pex5vsknk084sn02q',
  )
  readonly source_id!: string;
  @InstantProperty('When it happened, on the customer’s clock.') readonly occurred_at!: string;
}

/** @throws {ProblemError} `credit_balance_too_large` */
export function toCreditBalanceDto({
  customerId,
  currency,
  balanceMinor,
  reservedMinor,
}: CreditBalance): CreditBalanceDto {
  if (!isWireSafe(balanceMinor)) throw creditBalanceTooLarge(customerId);
  return {
    customer_id: customerId,
    currency,
    balance: toWireAmount(balanceMinor),
    available: toWireAmount(balanceMinor - reservedMinor),
    reserved: toWireAmount(reservedMinor),
  };
}

export function toCreditBalanceTransactionDto({
  id,
  kind,
  postings,
  currency,
  sourceId,
  occurredAt,
}: PostedTransaction): CreditBalanceTransactionDto {
  const posted = postings.find(({ account }) => account === 'customer_credit');
  return {
    id,
    type: kind,
    amount: toWireAmount(-(posted?.amountMinor ?? 0n)),
    currency,
    source_id: sourceId,
    occurred_at: toWireInstant(occurredAt),
  };
}
