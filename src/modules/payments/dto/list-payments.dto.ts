import type { PaymentFilter } from '../domain/payment';
import { ListQueryDto, ReferenceFilter } from '../../../platform/http';

export class ListPaymentsDto extends ListQueryDto {
  @ReferenceFilter('Only the payments of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the payments of this invoice.') readonly invoice_id?: string;
}

export function toPaymentFilter(dto: ListPaymentsDto): PaymentFilter {
  return { customerId: dto.customer_id ?? null, invoiceId: dto.invoice_id ?? null };
}
