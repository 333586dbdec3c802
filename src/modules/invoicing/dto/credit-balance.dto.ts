import { isWireSafe } from '../../../core/money';
import { IdProperty, IntegerProperty, TextProperty, toWireAmount } from '../../../platform/http';
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
  @IntegerProperty(
    'Credit available to the next invoices, which use the oldest credit first.',
    2000,
  )
  readonly available!: number;
  @IntegerProperty('The part that pending refunds have reserved.', 500) readonly reserved!: number;
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
