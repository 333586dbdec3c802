import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  NestedListProperty,
  TextProperty,
  mapperTo,
  toDto,
  toWireInstant,
} from '../../../platform/http';
import {
  ENTITLEMENT_RESETS,
  type EntitlementReset,
  PLAN_INTERVALS,
  PLAN_PRORATIONS,
  type PlanInterval,
  type PlanProration,
  type PlanVersion,
} from '../domain/plan';
import { PriceDto, toPriceDto } from './price.dto';

export class PlanEntitlementDto {
  @TextProperty('Id of the entitlement.', 'ent_01h455vb4pex5vsknk084sn02q')
  readonly entitlement_id!: string;
  @TextProperty('Decimal string; null for a boolean entitlement, or for no limit.', '10000', {
    nullable: true,
  })
  readonly value!: string | null;
  @BooleanProperty('If true, usage beyond the value is refused; otherwise it is overage.', true)
  readonly is_hard_limit!: boolean;
  @EnumProperty(
    ENTITLEMENT_RESETS,
    'When a metered allowance resets: at each billing period, at each calendar day, week (from Monday), month or year in the time zone of the subscription, or never.',
    'period',
  )
  readonly reset!: EntitlementReset;
}

export class PlanVersionTermsDto {
  @EnumProperty(PLAN_INTERVALS, 'Unit of the billing period.', 'month')
  readonly interval!: PlanInterval;
  @IntegerProperty('Length of a billing period in intervals.', 1) readonly interval_count!: number;
  @IntegerProperty('Trial days before the first period; 0: none.', 14) readonly trial_days!: number;
  @EnumProperty(
    PLAN_PRORATIONS,
    'Unit of proration. `none`: parts of a period are charged or credited only by changes that ask for it.',
    'day',
  )
  readonly proration!: PlanProration;
  @NestedListProperty(PriceDto, 'Prices, in the order sent.') readonly prices!: readonly PriceDto[];
  @NestedListProperty(PlanEntitlementDto, 'Entitlements granted by the plan, in the order sent.')
  readonly entitlements!: readonly PlanEntitlementDto[];
}

export class PlanVersionDto extends PlanVersionTermsDto {
  @IdProperty('planv_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Id of the plan.', 'plan_01h455vb4pex5vsknk084sn02q') readonly plan_id!: string;
  @IntegerProperty('Number of the version, from 1.', 1) readonly version!: number;
  @InstantProperty('When the version was created and activated.') readonly created_at!: string;
}

export function toPlanVersionTermsDto(version: PlanVersion): PlanVersionTermsDto {
  return toDto(PlanVersionTermsDto, {
    ...version,
    prices: version.prices.map(toPriceDto),
    entitlements: version.entitlements.map(toPlanEntitlementDto),
  });
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

const toPlanEntitlementDto = mapperTo(PlanEntitlementDto);
