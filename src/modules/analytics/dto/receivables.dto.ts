import {
  BooleanProperty,
  EnumField,
  InstantField,
  InstantProperty,
  IntegerProperty,
  LimitField,
  NestedListProperty,
  TextProperty,
  toDto,
  toWireInstant,
} from '../../../platform/http';
import type { Receivables } from '../domain/receivables';

export class ReceivablesQueryDto {
  @InstantField(
    'Shows what was owed at this instant, from transactions before it; for an instant in the future, what is owed now, with its age then. Default: now.',
    { optional: true },
  )
  readonly at?: string;
  @EnumField(['customer'], 'Omit it for the sums of all customers by currency.', {
    optional: true,
  })
  readonly group_by?: 'customer';
  @LimitField('Maximum number of customers per currency: those that owe most.', {
    max: 100,
    default: 100,
  })
  readonly limit?: number;
}

export class ReceivablesRowDto {
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @TextProperty('Customer; null: all customers.', 'cus_01h455vb4pex5vsknk084sn02q', {
    nullable: true,
  })
  readonly customer_id!: string | null;
  @TextProperty(
    'Name of the customer; null for callers without `customers:read`.',
    'Analytical Engines SARL',
    { nullable: true },
  )
  readonly customer_name!: string | null;
  @BooleanProperty(
    'True if the customer is deleted and can no longer be read; null without a customer.',
    null,
    {
      nullable: true,
    },
  )
  readonly is_deleted!: boolean | null;
  @IntegerProperty('Number of invoices that are owed.', 3) readonly invoices!: number;
  @TextProperty(
    'Sum of what is still to be paid, in whole minor units, as a string, because a sum can exceed the range of exact JSON numbers.',
    '17850',
  )
  readonly total!: string;
  @TextProperty('Part that is not due yet.', '5950') readonly not_due!: string;
  @TextProperty('Part overdue for up to 30 days.', '5950') readonly days_1_to_30!: string;
  @TextProperty('Part overdue for more than 30 and up to 60 days.', '5950')
  readonly days_31_to_60!: string;
  @TextProperty('Part overdue for more than 60 and up to 90 days.', '0')
  readonly days_61_to_90!: string;
  @TextProperty('Part overdue for more than 90 days.', '0') readonly over_90_days!: string;
}

export class ReceivablesDto {
  @InstantProperty('Instant at which the ages were computed.') readonly at!: string;
  @NestedListProperty(ReceivablesRowDto, 'By currency, or by customer and currency.')
  readonly data!: readonly ReceivablesRowDto[];
}

/** @param namesCustomers false for callers that may not read customers */
export function toReceivablesDto(
  at: Date,
  rows: readonly Receivables[],
  namesCustomers: boolean,
): ReceivablesDto {
  return {
    at: toWireInstant(at),
    data: rows.map(({ customerName, ...row }) =>
      toDto(ReceivablesRowDto, { ...row, customerName: namesCustomers ? customerName : null }),
    ),
  };
}
