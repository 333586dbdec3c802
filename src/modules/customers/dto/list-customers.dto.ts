import { ListQueryDto, TextField } from '../../../platform/http';
import type { CustomerFilter } from '../domain/customer';
import { LONGEST_EMAIL, LONGEST_EXTERNAL_ID } from './customer-fields.dto';

export class ListCustomersDto extends ListQueryDto {
  @TextField('Only the customer with this external id.', {
    most: LONGEST_EXTERNAL_ID,
    optional: true,
    example: 'crm-1042',
  })
  readonly external_id?: string;
  @TextField('Only customers with exactly this e-mail address.', {
    most: LONGEST_EMAIL,
    optional: true,
    example: 'ada@example.com',
  })
  readonly email?: string;
}

export function toCustomerFilter(query: ListCustomersDto): CustomerFilter {
  return { externalId: query.external_id ?? null, email: query.email ?? null };
}
