import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsEmail,
  IsIn,
  IsInt,
  IsObject,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  HasNoRepeats,
  IsIdOf,
  IsText,
  IsTimeZone,
  MetadataField,
  Nullable,
  Omittable,
} from '../../../platform/http';
import { MOST_INVOICE_GRACE_HOURS, TAX_EXEMPTIONS, type TaxExemption } from '../domain/customer';
import { AddressInputDto } from './address.dto';

export const LONGEST_NAME = 200;
export const LONGEST_EMAIL = 320;
export const LONGEST_EXTERNAL_ID = 255;
const MOST_TAX_RATES = 5;

export const DEFAULT_TIMEZONE = 'UTC';

/** Request fields that creation and update of a customer share. */
export class CustomerFieldsDto {
  @Nullable()
  @IsEmail({}, { message: 'must be an e-mail address' })
  @IsText(1, LONGEST_EMAIL)
  @ApiPropertyOptional({
    type: String,
    format: 'email',
    maxLength: LONGEST_EMAIL,
    nullable: true,
    description: 'Contact e-mail address.',
    example: 'ada@example.com',
  })
  readonly email?: string | null;

  @Nullable()
  @IsText(1, LONGEST_EXTERNAL_ID)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_EXTERNAL_ID,
    nullable: true,
    description: 'Id in your system; unique among customers that are not deleted.',
    example: 'crm-1042',
  })
  readonly external_id?: string | null;

  @Omittable()
  @IsTimeZone()
  @ApiPropertyOptional({
    description: `IANA time zone in which billing periods are computed. Default: ${DEFAULT_TIMEZONE}.`,
    example: 'Europe/Paris',
  })
  readonly timezone?: string;

  @Nullable()
  @IsObject()
  @ValidateNested()
  @Type(() => AddressInputDto)
  @ApiPropertyOptional({
    type: AddressInputDto,
    nullable: true,
    description: 'Postal address. An update replaces the whole address.',
  })
  readonly address?: AddressInputDto | null;

  @Omittable()
  @IsIn(TAX_EXEMPTIONS)
  @ApiPropertyOptional({
    enum: TAX_EXEMPTIONS,
    description:
      '`none` (taxed, the default), `exempt`, or `reverse` (reverse charge). Tax is 0 for the latter two.',
    example: 'none',
  })
  readonly tax_exempt?: TaxExemption;

  @Omittable()
  @IsArray()
  @ArrayMaxSize(MOST_TAX_RATES)
  @HasNoRepeats()
  @IsIdOf('txr', { each: true })
  @ApiPropertyOptional({
    type: [String],
    maxItems: MOST_TAX_RATES,
    description:
      'Ids of active tax rates. An update replaces the whole list; inactive rates that the customer has may stay.',
    example: [],
  })
  readonly tax_rate_ids?: readonly string[];

  @Nullable()
  @IsInt()
  @Min(0)
  @Max(MOST_INVOICE_GRACE_HOURS)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MOST_INVOICE_GRACE_HOURS,
    nullable: true,
    description:
      'Hours after the end of a period for which the renewal invoice stays a draft that still includes late usage; ' +
      'null: the default (`INVOICE_GRACE_HOURS`). Applies to later renewals.',
    example: 72,
  })
  readonly invoice_grace_hours?: number | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}
