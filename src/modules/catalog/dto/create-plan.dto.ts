import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  IsCurrency,
  IsDecimal,
  IsIdOf,
  IsText,
  MetadataField,
  Nullable,
  Omittable,
} from '../../../platform/http';
import {
  ENTITLEMENT_RESETS,
  type EntitlementReset,
  PLAN_INTERVALS,
  PLAN_PRORATIONS,
  type PlanEntitlement,
  type PlanInterval,
  type PlanProration,
  type PlanTerms,
  type PlanVersionChange,
} from '../domain/plan';
import { LONGEST_NAME } from './create-addon.dto';
import { PriceInputDto, toPriceTerms } from './price-input.dto';

const MOST_PRICES = 20;
const MOST_ENTITLEMENTS = 100;
const MOST_INTERVALS = 365;
const MOST_TRIAL_DAYS = 730;

class PlanEntitlementInputDto {
  @IsIdOf('ent')
  @ApiProperty({
    description: 'What a subscriber is allowed.',
    example: 'ent_01h455vb4pex5vsknk084sn02q',
  })
  readonly entitlement_id!: string;

  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Decimal string; left out for a boolean entitlement, or for no limit.',
    example: '10000',
  })
  readonly value?: string | null;

  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    default: true,
    description: 'Whether usage beyond the value is refused; else it is overage.',
  })
  readonly is_hard_limit?: boolean;

  @Omittable()
  @IsIn(ENTITLEMENT_RESETS)
  @ApiPropertyOptional({
    enum: ENTITLEMENT_RESETS,
    default: 'period',
    description:
      'When a metered allowance starts anew: with each billing period, with each day, week (from Monday), month or year of the calendar in the zone of the subscription, or never.',
  })
  readonly reset?: EntitlementReset;
}

/** What a plan and a further version of one are both sent with. */
class PlanTermsInputDto {
  @IsArray()
  @ArrayMaxSize(MOST_PRICES)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PriceInputDto)
  @ApiProperty({
    type: [PriceInputDto],
    maxItems: MOST_PRICES,
    description: 'What it costs; empty: nothing.',
  })
  readonly prices!: readonly PriceInputDto[];

  @Omittable()
  @IsInt()
  @Min(1)
  @Max(MOST_INTERVALS)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MOST_INTERVALS,
    description: 'Intervals a billing period is long; 1 unless said otherwise.',
    example: 1,
  })
  readonly interval_count?: number;

  @Omittable()
  @IsInt()
  @Min(0)
  @Max(MOST_TRIAL_DAYS)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MOST_TRIAL_DAYS,
    description: 'Days of trial before the first period; none unless said otherwise.',
    example: 14,
  })
  readonly trial_days?: number;

  @Omittable()
  @IsIn(PLAN_PRORATIONS)
  @ApiPropertyOptional({
    enum: PLAN_PRORATIONS,
    description:
      'What a part of a period is weighed by, `day` unless said otherwise; `none`: it is neither charged nor credited.',
    example: 'day',
  })
  readonly proration?: PlanProration;

  @Omittable()
  @IsArray()
  @ArrayMaxSize(MOST_ENTITLEMENTS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PlanEntitlementInputDto)
  @ApiPropertyOptional({
    type: [PlanEntitlementInputDto],
    maxItems: MOST_ENTITLEMENTS,
    description: 'What a subscriber is allowed.',
    example: [],
  })
  readonly entitlements?: readonly PlanEntitlementInputDto[];
}

/** A further version: but for `prices`, what is left out is as in the version before. */
export class CreatePlanVersionDto extends PlanTermsInputDto {
  @Omittable()
  @IsIn(PLAN_INTERVALS)
  @ApiPropertyOptional({
    enum: PLAN_INTERVALS,
    description: 'The unit a billing period is counted in.',
    example: 'month',
  })
  readonly interval?: PlanInterval;
}

export class CreatePlanDto extends PlanTermsInputDto {
  @Matches(/^[A-Za-z0-9_-]{1,64}$/, { message: 'must be 1 to 64 letters, digits, - or _' })
  @ApiProperty({
    description: 'Your name for it, 1 to 64 letters, digits, - or _; unique for ever.',
    example: 'team-monthly',
  })
  readonly code!: string;

  @IsText(1, LONGEST_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For people.',
    example: 'Team',
  })
  readonly name!: string;

  @IsCurrency()
  @ApiProperty({ description: 'ISO 4217; of all its prices.', example: 'EUR' })
  readonly currency!: string;

  @IsIn(PLAN_INTERVALS)
  @ApiProperty({
    enum: PLAN_INTERVALS,
    description: 'The unit a billing period is counted in.',
    example: 'month',
  })
  readonly interval!: PlanInterval;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toPlanTerms(dto: CreatePlanDto): PlanTerms {
  return {
    code: dto.code,
    name: dto.name,
    currency: dto.currency,
    interval: dto.interval,
    intervalCount: dto.interval_count ?? 1,
    trialDays: dto.trial_days ?? 0,
    proration: dto.proration ?? 'day',
    prices: dto.prices.map(toPriceTerms),
    entitlements: dto.entitlements?.map(toPlanEntitlement) ?? [],
    metadata: dto.metadata ?? {},
  };
}

export function toPlanVersionChange(dto: CreatePlanVersionDto): PlanVersionChange {
  return {
    interval: dto.interval,
    intervalCount: dto.interval_count,
    trialDays: dto.trial_days,
    proration: dto.proration,
    prices: dto.prices.map(toPriceTerms),
    entitlements: dto.entitlements?.map(toPlanEntitlement),
  };
}

function toPlanEntitlement(dto: PlanEntitlementInputDto): PlanEntitlement {
  return {
    entitlementId: dto.entitlement_id,
    value: dto.value ?? null,
    isHardLimit: dto.is_hard_limit ?? true,
    reset: dto.reset ?? 'period',
  };
}
