import { ApiPropertyOptional } from '@nestjs/swagger';
import type { PaymentFilter } from '../domain/payment';
import { IsText, ListQueryDto, Omittable } from '../../../platform/http';

export class ListPaymentsDto extends ListQueryDto {
  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only the payments of this customer.' })
  readonly customer_id?: string;

  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only the payments of this invoice.' })
  readonly invoice_id?: string;
}

export function toPaymentFilter(dto: ListPaymentsDto): PaymentFilter {
  return { customerId: dto.customer_id ?? null, invoiceId: dto.invoice_id ?? null };
}
