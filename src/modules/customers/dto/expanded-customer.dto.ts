import type { Type } from '@nestjs/common';
import {
  BooleanProperty,
  EnumListFilter,
  IdProperty,
  NestedProperty,
  TextProperty,
  withFields,
} from '../../../platform/http';

export class ExpandedCustomerDto {
  @IdProperty('cus_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Name of the customer.', 'Analytical Engines SARL') readonly name!: string;
  @TextProperty('E-mail address.', 'ada@example.com', { nullable: true })
  readonly email!: string | null;
  @BooleanProperty('True if the customer is deleted. It can no longer be read.', false)
  readonly is_deleted!: boolean;
}

class WithCustomerDto {
  @NestedProperty(ExpandedCustomerDto, 'The customer, with `expand=customer`.', { optional: true })
  readonly customer?: ExpandedCustomerDto;
}

/** Declares the query parameter `expand`: with the value `customer`, each item of a list also contains its customer. */
export function ExpandCustomerField(): PropertyDecorator {
  return EnumListFilter(
    ['customer'],
    'Objects to show within each item. Needs the scope `customers:read`.',
  );
}

/** Returns a DTO class for OpenAPI: the fields of the class `item`, and the optional field `customer`. */
export function withCustomer<Item extends object>(item: Type<Item>): Type<Item & WithCustomerDto> {
  return withFields(item, WithCustomerDto, item.name.replace(/Dto$/, 'WithCustomerDto'));
}
