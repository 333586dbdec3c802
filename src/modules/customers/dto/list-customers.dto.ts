import {
  CurrencyField,
  EnumField,
  FromField,
  IdListFilter,
  ReferenceFilter,
  SortField,
  TextField,
  ToField,
  toInstantRange,
  summaryOf,
  WithPaging,
} from '../../../platform/http';
import { CUSTOMER_SORTS, type CustomerFilter } from '../domain/customer';
import { MAX_EMAIL_LENGTH, MAX_EXTERNAL_ID_LENGTH } from './customer-fields.dto';

const MAX_QUERY_LENGTH = 200;
const MAX_IDS = 100;

export class CustomerFilterDto {
  @IdListFilter('cus', 'Only customers with these ids.', { max: MAX_IDS })
  readonly ids?: readonly string[];
  @TextField('Only the customer with this external id.', {
    max: MAX_EXTERNAL_ID_LENGTH,
    optional: true,
    example: 'crm-1042',
  })
  readonly external_id?: string;
  @TextField('Only customers with exactly this e-mail address.', {
    max: MAX_EMAIL_LENGTH,
    optional: true,
    example: 'ada@example.com',
  })
  readonly email?: string;
  @TextField(
    'Only customers whose name, e-mail address or external id has all these words. Upper and lower case are the same. Words of one or two characters match beginnings of words after a plain space.',
    { max: MAX_QUERY_LENGTH, optional: true, example: 'ada' },
  )
  readonly q?: string;
  @CurrencyField('Only customers with this currency.', { optional: true, example: 'EUR' })
  readonly currency?: string;
  @ReferenceFilter('Only customers on this test clock; `none` for customers in real time.')
  readonly test_clock_id?: string;
  @EnumField(
    ['true'],
    'Only customers with an open invoice that is not fully paid. Needs the scope `invoices:read`.',
    {
      optional: true,
    },
  )
  readonly owing?: 'true';
  @FromField('of creation') readonly created_from?: string;
  @ToField('of creation') readonly created_to?: string;
}

export class ListCustomersDto extends WithPaging(CustomerFilterDto) {
  @SortField(CUSTOMER_SORTS) readonly sort?: NonNullable<CustomerFilter['sort']>;
}

export function toCustomerFilter(
  query: CustomerFilterDto & Pick<ListCustomersDto, 'sort'>,
): CustomerFilter {
  return {
    ids: query.ids ?? null,
    externalId: query.external_id ?? null,
    email: query.email ?? null,
    text: query.q ?? null,
    currency: query.currency ?? null,
    testClockId: query.test_clock_id ?? null,
    isOwing: query.owing === 'true',
    created: toInstantRange(query.created_from, query.created_to),
    sort: query.sort ?? null,
  };
}

export const CustomerSummaryDto = summaryOf('Customer', {});
