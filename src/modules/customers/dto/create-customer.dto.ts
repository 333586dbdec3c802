import { CurrencyField, IdField, TextField } from '../../../platform/http';
import type { NewCustomer } from '../domain/customer';
import { toAddress } from './address.dto';
import { CustomerFieldsDto, DEFAULT_TIMEZONE, MAX_NAME_LENGTH } from './customer-fields.dto';

export class CreateCustomerDto extends CustomerFieldsDto {
  @TextField('Name of the customer.', { max: MAX_NAME_LENGTH, example: 'Analytical Engines Ltd' })
  readonly name!: string;
  @CurrencyField('ISO 4217. Default: fixed by the first invoice, payment or subscription.', {
    nullable: true,
    example: 'EUR',
  })
  readonly currency?: string | null;
  @IdField('clock', 'Test clock of the customer; cannot be changed. Default: real time.', {
    nullable: true,
    example: null,
  })
  readonly test_clock_id?: string | null;
}

export function toNewCustomer(dto: CreateCustomerDto): NewCustomer {
  return {
    name: dto.name,
    email: dto.email ?? null,
    externalId: dto.external_id ?? null,
    currency: dto.currency ?? null,
    timezone: dto.timezone ?? DEFAULT_TIMEZONE,
    address: dto.address ? toAddress(dto.address) : null,
    taxExempt: dto.tax_exempt ?? 'none',
    taxRateIds: dto.tax_rate_ids ?? [],
    invoiceGraceHours: dto.invoice_grace_hours ?? null,
    testClockId: dto.test_clock_id ?? null,
    metadata: dto.metadata ?? {},
  };
}
