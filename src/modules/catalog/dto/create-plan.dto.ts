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
    description: 'Id of the entitlement.',
    example: 'ent_01h455vb4pex5vsknk084sn02q',
  })
  readonly entitlement_id!: string;

  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Decimal string; omit it for a boolean entitlement, or for no limit.',
    example: '10000',
  })
  readonly value?: string | null;

  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    default: true,
    description: 'If true, usage beyond the value is refused; otherwise it is overage.',
  })
  readonly is_hard_limit?: boolean;

  @Omittable()
  @IsIn(ENTITLEMENT_RESETS)
  @ApiPropertyOptional({
    enum: ENTITLEMENT_RESETS,
    default: 'period',
    description:
      'When a metered allowance resets: at each billing period, at each calendar day, week (from Monday), month or year in the time zone of the subscription, or never.',
  })
  readonly reset?: EntitlementReset;
}

/** Request fields that a new plan and a further version share. */
class PlanTermsInputDto {
  @IsArray()
  @ArrayMaxSize(MOST_PRICES)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PriceInputDto)
  @ApiProperty({
    type: [PriceInputDto],
    maxItems: MOST_PRICES,
    description: 'Prices; empty for a free plan.',
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
    description: 'Length of a billing period in intervals. Default: 1.',
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
    description: 'Trial days before the first period. Default: none.',
    example: 14,
  })
  readonly trial_days?: number;

  @Omittable()
  @IsIn(PLAN_PRORATIONS)
  @ApiPropertyOptional({
    enum: PLAN_PRORATIONS,
    description:
      'Unit of proration. Default: `day`. `none`: parts of a period are neither charged nor credited.',
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
    description: 'Entitlements granted by the plan.',
    example: [],
  })
  readonly entitlements?: readonly PlanEntitlementInputDto[];
}

/** A further version. Omitted fields, except `prices`, are copied from the previous version. */
export class CreatePlanVersionDto extends PlanTermsInputDto {
  @Omittable()
  @IsIn(PLAN_INTERVALS)
  @ApiPropertyOptional({
    enum: PLAN_INTERVALS,
    description: 'Unit of the billing period.',
    example: 'month',
  })
  readonly interval?: PlanInterval;
}

export class CreatePlanDto extends PlanTermsInputDto {
  @Matches(/^[A-Za-z0-9_-]{1,64}$/, { message: 'must be 1 to 64 letters, digits, - or _' })
  @ApiProperty({
    description: 'Your code for the plan, 1 to 64 letters, digits, - or _; unique forever.',
    example: 'team-monthly',
  })
  readonly code!: string;

  @IsText(1, LONGEST_NAME)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For display only.',
    example: 'Team',
  })
  readonly name!: string;

  @IsCurrency()
  @ApiProperty({ description: 'ISO 4217; the currency of all prices.', example: 'EUR' })
  readonly currency!: string;

  @IsIn(PLAN_INTERVALS)
  @ApiProperty({
    enum: PLAN_INTERVALS,
    description: 'Unit of the billing period.',
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
