import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireInstant } from '../../../platform/http';
import {
  ENTITLEMENT_RESETS,
  type EntitlementReset,
  PLAN_INTERVALS,
  PLAN_PRORATIONS,
  type PlanEntitlement,
  type PlanInterval,
  type PlanProration,
  type PlanVersion,
} from '../domain/plan';
import { PriceDto, toPriceDto } from './price.dto';

export class PlanEntitlementDto {
  @ApiProperty({
    description: 'Id of the entitlement.',
    example: 'ent_01h455vb4pex5vsknk084sn02q',
  })
  readonly entitlement_id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Decimal string; null for a boolean entitlement, or for no limit.',
    example: '10000',
  })
  readonly value!: string | null;

  @ApiProperty({
    description: 'If true, usage beyond the value is refused; otherwise it is overage.',
    example: true,
  })
  readonly is_hard_limit!: boolean;

  @ApiProperty({
    enum: ENTITLEMENT_RESETS,
    description:
      'When a metered allowance resets: at each billing period, at each calendar day, week (from Monday), month or year in the time zone of the subscription, or never.',
    example: 'period',
  })
  readonly reset!: EntitlementReset;
}

/** Response fields that a plan and its versions share. */
export class PlanVersionTermsDto {
  @ApiProperty({
    enum: PLAN_INTERVALS,
    description: 'Unit of the billing period.',
    example: 'month',
  })
  readonly interval!: PlanInterval;

  @ApiProperty({
    type: 'integer',
    description: 'Length of a billing period in intervals.',
    example: 1,
  })
  readonly interval_count!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Trial days before the first period; 0: none.',
    example: 14,
  })
  readonly trial_days!: number;

  @ApiProperty({
    enum: PLAN_PRORATIONS,
    description: 'Unit of proration. `none`: parts of a period are neither charged nor credited.',
    example: 'day',
  })
  readonly proration!: PlanProration;

  @ApiProperty({ type: [PriceDto], description: 'Prices, in the order sent.' })
  readonly prices!: readonly PriceDto[];

  @ApiProperty({
    type: [PlanEntitlementDto],
    description: 'Entitlements granted by the plan, in the order sent.',
  })
  readonly entitlements!: readonly PlanEntitlementDto[];
}

export class PlanVersionDto extends PlanVersionTermsDto {
  @IdProperty('planv_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Id of the plan.', example: 'plan_01h455vb4pex5vsknk084sn02q' })
  readonly plan_id!: string;

  @ApiProperty({ type: 'integer', description: 'Number of the version, from 1.', example: 1 })
  readonly version!: number;

  @InstantProperty('When the version was created and activated.')
  readonly created_at!: string;
}

export function toPlanVersionTermsDto(version: PlanVersion): PlanVersionTermsDto {
  return {
    interval: version.interval,
    interval_count: version.intervalCount,
    trial_days: version.trialDays,
    proration: version.proration,
    prices: version.prices.map(toPriceDto),
    entitlements: version.entitlements.map(toPlanEntitlementDto),
  };
}

export function toPlanVersionDto(version: PlanVersion): PlanVersionDto {
  return {
    id: version.id,
    plan_id: version.planId,
    version: version.number,
    ...toPlanVersionTermsDto(version),
    created_at: toWireInstant(version.createdAt),
  };
}

function toPlanEntitlementDto(entitlement: PlanEntitlement): PlanEntitlementDto {
  return {
    entitlement_id: entitlement.entitlementId,
    value: entitlement.value,
    is_hard_limit: entitlement.isHardLimit,
    reset: entitlement.reset,
  };
}
