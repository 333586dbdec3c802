import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
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
  IsCurrency,
  IsIdOf,
  IsText,
  IsTimeZone,
  MetadataField,
  Nullable,
  Omittable,
} from '../../../platform/http';
import {
  MOST_INVOICE_GRACE_HOURS,
  type NewCustomer,
  TAX_EXEMPTIONS,
  type TaxExemption,
} from '../domain/customer';
import { AddressInputDto, toAddress } from './address.dto';

export const LONGEST_NAME = 200;
export const LONGEST_EMAIL = 320;
export const LONGEST_EXTERNAL_ID = 255;
export const MOST_TAX_RATES = 5;

const DEFAULT_TIMEZONE = 'UTC';

export class CreateCustomerDto {
  @IsText(1, LONGEST_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'Who is billed.',
    example: 'Analytical Engines Ltd',
  })
  readonly name!: string;

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

  @Nullable()
  @IsCurrency()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'ISO 4217; left out: the first amount fixes it.',
    example: 'EUR',
  })
  readonly currency?: string | null;

  @Omittable()
  @IsTimeZone()
  @ApiPropertyOptional({
    default: DEFAULT_TIMEZONE,
    description: 'IANA time zone in which periods are counted.',
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
    description: 'Postal address.',
  })
  readonly address?: AddressInputDto | null;

  @Omittable()
  @IsIn(TAX_EXEMPTIONS)
  @ApiPropertyOptional({
    enum: TAX_EXEMPTIONS,
    default: 'none',
    description: 'Taxed (`none`), `exempt`, or taxed by the `reverse` charge: then tax is 0.',
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
    description: 'Active tax rates it is billed; left out: none.',
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
      'still joins; left out: as configured (`INVOICE_GRACE_HOURS`). Holds for renewals from then on.',
    example: 72,
  })
  readonly invoice_grace_hours?: number | null;

  @Nullable()
  @IsIdOf('clock')
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'The test clock it lives on; left out: it lives in real time. Never changes.',
    example: null,
  })
  readonly test_clock_id?: string | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
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
