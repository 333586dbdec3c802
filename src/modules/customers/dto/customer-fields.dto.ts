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

/** What is sent of a customer in the same way when it is made and when it is changed. */
export class CustomerFieldsDto {
  @Nullable()
  @IsEmail({}, { message: 'must be an e-mail address' })
  @IsText(1, LONGEST_EMAIL)
  @ApiPropertyOptional({
    type: String,
    format: 'email',
    maxLength: LONGEST_EMAIL,
    nullable: true,
    description: 'Where the customer is written to.',
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
    description: 'Your own id of this customer; unique among those not deleted.',
    example: 'crm-1042',
  })
  readonly external_id?: string | null;

  @Omittable()
  @IsTimeZone()
  @ApiPropertyOptional({
    description: `IANA time zone in which periods are counted; ${DEFAULT_TIMEZONE} unless it is given.`,
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
    description: 'Postal address; an update replaces the whole of it.',
  })
  readonly address?: AddressInputDto | null;

  @Omittable()
  @IsIn(TAX_EXEMPTIONS)
  @ApiPropertyOptional({
    enum: TAX_EXEMPTIONS,
    description:
      'Taxed (`none`, unless it is given), `exempt`, or taxed by the `reverse` charge: then tax is 0.',
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
      'Active tax rates it is billed. An update replaces the whole list; one that it has may stay though it is inactive.',
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
      'Hours from the end of a period for which the invoice of its renewal stays a draft, which usage that comes late ' +
      'still joins; null: as configured (`INVOICE_GRACE_HOURS`). Holds for renewals from then on.',
    example: 72,
  })
  readonly invoice_grace_hours?: number | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}
