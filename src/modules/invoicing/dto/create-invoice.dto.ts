import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  IsCurrency,
  IsIdOf,
  IsText,
  ListQueryDto,
  MetadataField,
  Nullable,
  Omittable,
} from '../../../platform/http';
import {
  COLLECTIONS,
  INVOICE_STATUSES,
  type Collection,
  type InvoiceStatus,
} from '../domain/invoice';
import type { OneOffOrder } from '../domain/one-off';
import type { InvoiceFilter } from '../domain/invoice-filter';

const LONGEST_DESCRIPTION = 500;
const MOST_LINES = 100;
/** A thousand lines of it stay within what JSON can carry. */
const LARGEST_AMOUNT = 1_000_000_000_000;
const MOST_DAYS = 365;

export class OneOffLineDto {
  @IsText(1, LONGEST_DESCRIPTION)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_DESCRIPTION,
    description: 'What it is for.',
    example: 'Setting up',
  })
  readonly description!: string;

  @IsInt()
  @Min(-LARGEST_AMOUNT)
  @Max(LARGEST_AMOUNT)
  @ApiProperty({
    type: 'integer',
    minimum: -LARGEST_AMOUNT,
    maximum: LARGEST_AMOUNT,
    description: 'Minor units before tax; negative for a credit.',
    example: 25000,
  })
  readonly amount!: number;
}

export class CreateInvoiceDto {
  @IsIdOf('cus')
  @ApiProperty({ description: 'Who owes it.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @Nullable()
  @IsCurrency()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'ISO 4217; left out: the currency of the customer.',
    example: 'EUR',
  })
  readonly currency?: string | null;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_LINES)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => OneOffLineDto)
  @ApiProperty({
    type: [OneOffLineDto],
    minItems: 1,
    maxItems: MOST_LINES,
    description: 'What it is for, line by line.',
  })
  readonly lines!: readonly OneOffLineDto[];

  @Omittable()
  @IsIn(COLLECTIONS)
  @ApiPropertyOptional({
    enum: COLLECTIONS,
    default: 'automatic',
    description: 'How it is paid: taken from the customer, or sent to be paid.',
    example: 'send_invoice',
  })
  readonly collection?: Collection;

  @Omittable()
  @IsInt()
  @Min(0)
  @Max(MOST_DAYS)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MOST_DAYS,
    default: 0,
    description: 'Days from finalising to when it is due.',
    example: 14,
  })
  readonly days_until_due?: number;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toOneOffOrder(dto: CreateInvoiceDto): OneOffOrder {
  return {
    customerId: dto.customer_id,
    currency: dto.currency ?? null,
    lines: dto.lines.map(({ description, amount }) => ({
      kind: 'fixed',
      description,
      amountMinor: BigInt(amount),
    })),
    collection: dto.collection ?? 'automatic',
    daysUntilDue: dto.days_until_due ?? 0,
    metadata: dto.metadata ?? {},
  };
}

export class ListInvoicesDto extends ListQueryDto {
  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only the invoices of this customer.' })
  readonly customer_id?: string;

  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only the invoices of this subscription.' })
  readonly subscription_id?: string;

  @Omittable()
  @IsIn(INVOICE_STATUSES)
  @ApiPropertyOptional({ enum: INVOICE_STATUSES, description: 'Only invoices that stand here.' })
  readonly status?: InvoiceStatus;
}

export function toInvoiceFilter(query: ListInvoicesDto): InvoiceFilter {
  return {
    customerId: query.customer_id ?? null,
    subscriptionId: query.subscription_id ?? null,
    status: query.status ?? null,
  };
}
