import { CurrencyField, TextField } from '../../../platform/http';
import type { CustomerChange } from '../domain/customer';
import { toAddress } from './address.dto';
import { CustomerFieldsDto, MAX_NAME_LENGTH } from './customer-fields.dto';

export class UpdateCustomerDto extends CustomerFieldsDto {
  @TextField('Name of the customer.', {
    max: MAX_NAME_LENGTH,
    optional: true,
    example: 'Analytical Engines Ltd',
  })
  readonly name?: string;
  @CurrencyField('ISO 4217; cannot change once `currency_locked` is true.', {
    nullable: true,
    example: 'EUR',
  })
  readonly currency?: string | null;
}

export function toCustomerChange(dto: UpdateCustomerDto): CustomerChange {
  return {
    name: dto.name,
    email: dto.email,
    externalId: dto.external_id,
    currency: dto.currency,
    timezone: dto.timezone,
    address: dto.address ? toAddress(dto.address) : dto.address,
    taxExempt: dto.tax_exempt,
    taxRateIds: dto.tax_rate_ids,
    invoiceGraceHours: dto.invoice_grace_hours,
    metadata: dto.metadata,
  };
}
