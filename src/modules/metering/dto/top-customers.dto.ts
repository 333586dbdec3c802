import {
  BooleanProperty,
  IntegerProperty,
  NestedListProperty,
  TextProperty,
} from '../../../platform/http';
import type { TopCustomers } from '../meter-usage.service';
import { toWireValue } from './meter-usage.dto';

export class UsageOfCustomerDto {
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty(
    'Name of the customer; null for callers without `customers:read`.',
    'Analytical Engines SARL',
    { nullable: true },
  )
  readonly customer_name!: string | null;
  @BooleanProperty('True if the customer is deleted. It can no longer be read.', false)
  readonly is_deleted!: boolean;
  @TextProperty('Usage of the period over all groups, as a decimal string.', '10.625')
  readonly value!: string;
}

export class TopCustomersDto {
  @NestedListProperty(UsageOfCustomerDto, 'Customers with the largest usage, largest first.')
  readonly data!: readonly UsageOfCustomerDto[];
  @IntegerProperty('Number of all customers with usage in the period.', 1)
  readonly customers!: number;
  @TextProperty(
    'Sum of the values of all customers, including those that `limit` leaves out, as a decimal string.',
    '10.625',
  )
  readonly total!: string;
}

/** @param namesCustomers false: leaves out the names of customers, because the caller may not read customers */
export function toTopCustomersDto(
  { data, customers, total }: TopCustomers,
  namesCustomers: boolean,
): TopCustomersDto {
  return {
    data: data.map(({ customerId, customerName, isDeleted, value }) => ({
      customer_id: customerId,
      customer_name: namesCustomers ? customerName : null,
      is_deleted: isDeleted,
      value: toWireValue(value),
    })),
    customers,
    total: toWireValue(total),
  };
}
