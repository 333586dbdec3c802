import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsInt, IsString, Matches, Max, Min } from 'class-validator';
import {
  HasNoRepeats,
  IsCurrency,
  IsInstant,
  IsMinorUnits,
  IsText,
  MetadataField,
  Nullable,
  Omittable,
} from '../../../platform/http';
import {
  COUPON_DURATIONS,
  COUPON_TYPES,
  type CouponDuration,
  type CouponTerms,
  type CouponType,
} from '../domain/coupon';

const MOST_PLANS = 100;
const LARGEST_COUNT = 2_147_483_647;

export class CreateCouponDto {
  @Omittable()
  @IsString()
  @Matches(/^[A-Za-z0-9_-]{1,64}$/, { message: 'must be 1 to 64 letters, digits, - or _' })
  @ApiPropertyOptional({
    description: 'Code that customers enter; unique. Default: a generated code.',
    example: 'WELCOME20',
  })
  readonly code?: string;

  @Nullable()
  @IsText(1, 200)
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'For display only.',
    example: 'Welcome',
  })
  readonly name?: string | null;

  @IsIn(COUPON_TYPES)
  @ApiProperty({
    enum: COUPON_TYPES,
    description: 'Kind of discount: a percentage or an amount.',
    example: 'percent',
  })
  readonly type!: CouponType;

  @Nullable()
  @IsString()
  @Matches(/^(?!0+(\.0+)?$)(100(\.0{1,4})?|(0|[1-9]\d?)(\.\d{1,4})?)$/, {
    message: 'must be a decimal string above 0 and up to 100, with at most 4 decimals',
  })
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Percent, as a decimal string; for type `percent`.',
    example: '20',
  })
  readonly percent_off?: string | null;

  @Nullable()
  @IsMinorUnits(1)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    nullable: true,
    description:
      'Minor units of `currency`; for type `amount`. Taken off once per billing period of the subscription, over all invoices of the period; with duration `once`, taken off once in total.',
  })
  readonly amount_off?: number | null;

  @Nullable()
  @IsCurrency()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'ISO 4217; for type `amount`.',
  })
  readonly currency?: string | null;

  @IsIn(COUPON_DURATIONS)
  @ApiProperty({
    enum: COUPON_DURATIONS,
    description: 'How long the discount lasts.',
    example: 'once',
  })
  readonly duration!: CouponDuration;

  @Nullable()
  @IsInt()
  @Min(1)
  @Max(1_200)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 1_200,
    nullable: true,
    description:
      'Number of months from the start of the first discounted billing period; for `repeating`.',
  })
  readonly duration_in_months?: number | null;

  @Nullable()
  @IsInt()
  @Min(1)
  @Max(LARGEST_COUNT)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    nullable: true,
    description: 'Maximum number of redemptions. Default: no limit.',
    example: 100,
  })
  readonly max_redemptions?: number | null;

  @Nullable()
  @IsInstant()
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Last instant at which the coupon can be redeemed.',
    example: '2030-01-01T00:00:00.000Z',
  })
  readonly redeem_by?: string | null;

  @Omittable()
  @IsArray()
  @ArrayMaxSize(MOST_PLANS)
  @HasNoRepeats()
  @Matches(/^plan_[0-9a-z]{26}$/, { each: true, message: 'must be ids that start with plan_' })
  @ApiPropertyOptional({
    type: [String],
    maxItems: MOST_PLANS,
    description:
      'Ids of the plans whose prices are discounted. Prices of other plans and of add-ons are not discounted. Default: all prices.',
    example: [],
  })
  readonly plan_ids?: readonly string[];

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toCouponTerms(dto: CreateCouponDto): CouponTerms {
  return {
    code: dto.code ?? null,
    name: dto.name ?? null,
    type: dto.type,
    percentOff: dto.percent_off ?? null,
    amountOff: typeof dto.amount_off === 'number' ? BigInt(dto.amount_off) : null,
    currency: dto.currency ?? null,
    duration: dto.duration,
    durationInMonths: dto.duration_in_months ?? null,
    maxRedemptions: dto.max_redemptions ?? null,
    redeemBy: typeof dto.redeem_by === 'string' ? new Date(dto.redeem_by) : null,
    planIds: dto.plan_ids ?? [],
    metadata: dto.metadata ?? {},
  };
}
