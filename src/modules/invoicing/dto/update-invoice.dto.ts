import { MetadataField } from '../../../platform/http';

export class UpdateInvoiceDto {
  @MetadataField() readonly metadata?: Record<string, unknown>;
}
