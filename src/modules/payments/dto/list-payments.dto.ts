import {
  CurrencyField,
  EnumListFilter,
  FromField,
  MinAmountField,
  MaxAmountField,
  ReferenceFilter,
  possibleStatuses,
  toAmountRange,
  ToField,
  toInstantRange,
  summaryOf,
  WithPaging,
} from '../../../platform/http';
import { RealTimeFilter } from '../../test-clocks';
import { FailureCodeFilter } from './failure-code-filter';
import { ExpandCustomerField } from '../../customers';
import { PAYMENT_STATUSES, type PaymentStatus } from '../domain/payment';
import type { PaymentFilter } from '../domain/payment-filter';

export class PaymentFilterDto {
  @ReferenceFilter('Only the payments of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the payments of this invoice.') readonly invoice_id?: string;
  @EnumListFilter(PAYMENT_STATUSES, 'Only payments with one of these statuses.')
  readonly status?: readonly PaymentStatus[];
  @FailureCodeFilter('payments', 'insufficient_funds') readonly failure_code?: string;
  @CurrencyField('Only payments in this currency.', { optional: true, example: 'EUR' })
  readonly currency?: string;
  @MinAmountField('amount') readonly amount_min?: number;
  @MaxAmountField('amount') readonly amount_max?: number;
  @RealTimeFilter('payments') readonly test_clock_id?: 'none';
  @FromField('of creation') readonly created_from?: string;
  @ToField('of creation') readonly created_to?: string;
}

export class ListPaymentsDto extends WithPaging(PaymentFilterDto) {
  @ExpandCustomerField() readonly expand?: readonly 'customer'[];
}

export function toPaymentFilter(dto: PaymentFilterDto): PaymentFilter {
  return {
    customerId: dto.customer_id ?? null,
    invoiceId: dto.invoice_id ?? null,
    statuses: possibleStatuses(dto.status, dto.failure_code !== undefined, ['failed']),
    failureCode: dto.failure_code ?? null,
    currency: dto.currency ?? null,
    amount: toAmountRange('amount', dto.currency, dto.amount_min, dto.amount_max),
    isInRealTime: dto.test_clock_id === 'none',
    created: toInstantRange(dto.created_from, dto.created_to),
  };
}

export const PaymentSummaryDto = summaryOf('Payment', {
  amount: 'Sum of the amounts, failed payments included.',
  amount_refunded: 'Sum of what was refunded.',
});
