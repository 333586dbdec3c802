import { ApiProperty } from '@nestjs/swagger';
import {
  BooleanProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  NestedListProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { CustomerUsage } from '../usage/quote-usage.workflow';

export class UsageGroupDto {
  @ApiProperty({
    type: 'array',
    items: { type: 'string', nullable: true },
    nullable: true,
    description:
      'The text of each `group_by` property of the meter, null unless it is a text, number or boolean. Null: all groups together.',
    example: null,
  })
  readonly group!: readonly (string | null)[] | null;
  @TextProperty('Quantity that the meter counted, as a decimal string.', '1500')
  readonly quantity!: string;
  @IntegerProperty('Number of counted events.', 12) readonly events!: number;
  @IntegerProperty('Minor units.', 750) readonly amount!: number;
}

export class CustomerUsageItemDto {
  @IdProperty('sub_01h455vb4pex5vsknk084sn02q') readonly subscription_id!: string;
  @TextProperty(
    'Draft invoice that bills this usage and further usage until the invoice is finalized; null if the next invoice bills it.',
    null,
    { nullable: true },
  )
  readonly invoice_id!: string | null;
  @TextProperty('The price.', 'price_01h455vb4pex5vsknk084sn02q') readonly price_id!: string;
  @TextProperty('Name of the price.', 'API calls') readonly name!: string;
  @TextProperty('The meter.', 'meter_01h455vb4pex5vsknk084sn02q') readonly meter_id!: string;
  @InstantProperty('Start of the period, or of the price if later.')
  readonly period_start!: string;
  @InstantProperty('End of the period, or of the price if earlier; exclusive.', {
    example: '2026-04-01T09:30:00.000Z',
  })
  readonly period_end!: string;
  @BooleanProperty(
    'True if the period is billed already and its usage has changed since. `groups` is then the whole usage of the period, and ' +
      '`amount` the difference that the next invoice bills.',
    false,
  )
  readonly is_late!: boolean;
  @NestedListProperty(UsageGroupDto, 'Usage by group.') readonly groups!: readonly UsageGroupDto[];
  @IntegerProperty(
    'Minor units after the minimum and maximum of the price, before discount and tax.',
    750,
  )
  readonly amount!: number;
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
}

export class CustomerUsageDto {
  @NestedListProperty(CustomerUsageItemDto, 'One for each metered price and period.')
  readonly data!: readonly CustomerUsageItemDto[];
}

export function toCustomerUsageDto(usage: readonly CustomerUsage[]): CustomerUsageDto {
  return { data: usage.map(toItemDto) };
}

function toItemDto({ request, parts, amountMinor, ...usage }: CustomerUsage): CustomerUsageItemDto {
  return toDto(CustomerUsageItemDto, {
    ...usage,
    priceId: request.price.priceId,
    name: request.price.name,
    meterId: request.meterId,
    periodStart: request.period.startAt,
    periodEnd: request.period.endAt,
    groups: parts.map((part) => toDto(UsageGroupDto, { ...part, amount: part.amountMinor })),
    amount: amountMinor,
  });
}
