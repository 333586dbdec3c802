import {
  EnumListFilter,
  FromField,
  ListQueryDto,
  ReferenceFilter,
  ToField,
  toInstantRange,
} from '../../../platform/http';
import { PAYMENT_STATUSES, type PaymentFilter, type PaymentStatus } from '../domain/payment';

export class ListPaymentsDto extends ListQueryDto {
  @ReferenceFilter('Only the payments of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the payments of this invoice.') readonly invoice_id?: string;
  @EnumListFilter(PAYMENT_STATUSES, 'Only payments with one of these statuses.')
  readonly status?: readonly PaymentStatus[];
  @FromField('of creation') readonly created_from?: string;
  @ToField('of creation') readonly created_to?: string;
}

export function toPaymentFilter(dto: ListPaymentsDto): PaymentFilter {
  return {
    customerId: dto.customer_id ?? null,
    invoiceId: dto.invoice_id ?? null,
    statuses: dto.status ?? null,
    created: toInstantRange(dto.created_from, dto.created_to),
  };
}
