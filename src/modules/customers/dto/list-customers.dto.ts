import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, ListQueryDto, Omittable } from '../../../platform/http';
import type { CustomerFilter } from '../domain/customer';
import { LONGEST_EMAIL, LONGEST_EXTERNAL_ID } from './customer-fields.dto';

export class ListCustomersDto extends ListQueryDto {
  @Omittable()
  @IsText(1, LONGEST_EXTERNAL_ID)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: LONGEST_EXTERNAL_ID,
    description: 'Only the customer with this external id.',
    example: 'crm-1042',
  })
  readonly external_id?: string;

  @Omittable()
  @IsText(1, LONGEST_EMAIL)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: LONGEST_EMAIL,
    description: 'Only customers with exactly this e-mail address.',
    example: 'ada@example.com',
  })
  readonly email?: string;
}

export function toCustomerFilter(query: ListCustomersDto): CustomerFilter {
  return { externalId: query.external_id ?? null, email: query.email ?? null };
}
