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
    description: 'What a subscriber is allowed.',
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
    description: 'Whether usage beyond the value is refused; else it is overage.',
    example: true,
  })
  readonly is_hard_limit!: boolean;

  @ApiProperty({
    enum: ENTITLEMENT_RESETS,
    description:
      'When a metered allowance starts anew: with each billing period, with each day, week (from Monday), month or year of the calendar in the zone of the subscription, or never.',
    example: 'period',
  })
  readonly reset!: EntitlementReset;
}

/** What a plan and each of its versions say. */
export class PlanVersionTermsDto {
  @ApiProperty({
    enum: PLAN_INTERVALS,
    description: 'The unit a billing period is counted in.',
    example: 'month',
  })
  readonly interval!: PlanInterval;

  @ApiProperty({
    type: 'integer',
    description: 'Intervals a billing period is long.',
    example: 1,
  })
  readonly interval_count!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Days of trial before the first period; 0: none.',
    example: 14,
  })
  readonly trial_days!: number;

  @ApiProperty({
    enum: PLAN_PRORATIONS,
    description:
      'What a part of a period is weighed by; `none`: it is neither charged nor credited.',
    example: 'day',
  })
  readonly proration!: PlanProration;

  @ApiProperty({ type: [PriceDto], description: 'What it costs, in the order sent.' })
  readonly prices!: readonly PriceDto[];

  @ApiProperty({
    type: [PlanEntitlementDto],
    description: 'What a subscriber is allowed, in the order sent.',
  })
  readonly entitlements!: readonly PlanEntitlementDto[];
}

export class PlanVersionDto extends PlanVersionTermsDto {
  @IdProperty('planv_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'The plan.', example: 'plan_01h455vb4pex5vsknk084sn02q' })
  readonly plan_id!: string;

  @ApiProperty({ type: 'integer', description: '1 for the first version of the plan.', example: 1 })
  readonly version!: number;

  @InstantProperty('When it was created, which made it the active one.')
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
