import {
  CurrencyField,
  EnumListFilter,
  FromField,
  MinAmountField,
  MaxAmountField,
  ReferenceFilter,
  possibleStatuses,
  summaryOf,
  toAmountRange,
  ToField,
  toInstantRange,
  WithPaging,
} from '../../../platform/http';
import { FailureCodeFilter } from '../../payments';
import { ExpandCustomerField } from '../../customers';
import { REFUND_STATUSES, type RefundFilter, type RefundStatus } from '../domain/refund';

export class RefundFilterDto {
  @ReferenceFilter('Only the refunds of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the refunds of this payment.') readonly payment_id?: string;
  @EnumListFilter(REFUND_STATUSES, 'Only refunds with one of these statuses.')
  readonly status?: readonly RefundStatus[];
  @FailureCodeFilter('refunds', 'declined') readonly failure_code?: string;
  @CurrencyField('Only refunds in this currency.', { optional: true, example: 'EUR' })
  readonly currency?: string;
  @MinAmountField('amount') readonly amount_min?: number;
  @MaxAmountField('amount') readonly amount_max?: number;
  @FromField('of creation') readonly created_from?: string;
  @ToField('of creation') readonly created_to?: string;
}

export class ListRefundsDto extends WithPaging(RefundFilterDto) {
  @ExpandCustomerField() readonly expand?: readonly 'customer'[];
}

export function toRefundFilter(dto: RefundFilterDto): RefundFilter {
  return {
    customerId: dto.customer_id ?? null,
    paymentId: dto.payment_id ?? null,
    statuses: possibleStatuses(dto.status, dto.failure_code !== undefined, ['failed']),
    failureCode: dto.failure_code ?? null,
    currency: dto.currency ?? null,
    amount: toAmountRange('amount', dto.currency, dto.amount_min, dto.amount_max),
    created: toInstantRange(dto.created_from, dto.created_to),
  };
}

export const RefundSummaryDto = summaryOf('Refund', {
  amount: 'Sum of the amounts, failed refunds included.',
});
