import {
  EnumListFilter,
  FromField,
  ListQueryDto,
  ReferenceFilter,
  ToField,
  toInstantRange,
} from '../../../platform/http';
import { REFUND_STATUSES, type RefundFilter, type RefundStatus } from '../domain/refund';

export class ListRefundsDto extends ListQueryDto {
  @ReferenceFilter('Only the refunds of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the refunds of this payment.') readonly payment_id?: string;
  @EnumListFilter(REFUND_STATUSES, 'Only refunds with one of these statuses.')
  readonly status?: readonly RefundStatus[];
  @FromField('of creation') readonly created_from?: string;
  @ToField('of creation') readonly created_to?: string;
}

export function toRefundFilter(dto: ListRefundsDto): RefundFilter {
  return {
    customerId: dto.customer_id ?? null,
    paymentId: dto.payment_id ?? null,
    statuses: dto.status ?? null,
    created: toInstantRange(dto.created_from, dto.created_to),
  };
}
