import {
  BooleanField,
  CurrencyField,
  DecimalField,
  EnumField,
  IdField,
  IntegerField,
  MetadataField,
  NestedListField,
  PatternField,
  TextField,
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
import { MAX_NAME_LENGTH } from './create-addon.dto';
import { PriceInputDto, toPriceTerms } from './price-input.dto';

const MAX_PRICES = 20;
const MAX_ENTITLEMENTS = 100;
const MAX_INTERVALS = 365;
const MAX_TRIAL_DAYS = 730;

class PlanEntitlementInputDto {
  @IdField('ent', 'Id of the entitlement.', { example: 'ent_01h455vb4pex5vsknk084sn02q' })
  readonly entitlement_id!: string;
  @DecimalField('Decimal string; omit it for a boolean entitlement, or for no limit.', {
    nullable: true,
    example: '10000',
  })
  readonly value?: string | null;
  @BooleanField('If true, usage beyond the value is refused; otherwise it is overage.', {
    optional: true,
    default: true,
  })
  readonly is_hard_limit?: boolean;
  @EnumField(
    ENTITLEMENT_RESETS,
    'When a metered allowance resets: at each billing period, at each calendar day, week (from Monday), month or year in the time zone of the subscription, or never.',
    { optional: true, default: 'period' },
  )
  readonly reset?: EntitlementReset;
}

class PlanTermsInputDto {
  @NestedListField(PriceInputDto, 'Prices; empty for a free plan.', { max: MAX_PRICES })
  readonly prices!: readonly PriceInputDto[];
  @IntegerField('Length of a billing period in intervals. Default: 1.', {
    min: 1,
    max: MAX_INTERVALS,
    optional: true,
    example: 1,
  })
  readonly interval_count?: number;
  @IntegerField('Trial days before the first period. Default: none.', {
    min: 0,
    max: MAX_TRIAL_DAYS,
    optional: true,
    example: 14,
  })
  readonly trial_days?: number;
  @EnumField(
    PLAN_PRORATIONS,
    'Unit of proration. Default: `day`. `none`: parts of a period are charged or credited only by changes that ask for it.',
    { optional: true, example: 'day' },
  )
  readonly proration?: PlanProration;
  @NestedListField(PlanEntitlementInputDto, 'Entitlements granted by the plan.', {
    max: MAX_ENTITLEMENTS,
    optional: true,
    example: [],
  })
  readonly entitlements?: readonly PlanEntitlementInputDto[];
}

export class CreatePlanVersionDto extends PlanTermsInputDto {
  @EnumField(PLAN_INTERVALS, 'Unit of the billing period.', { optional: true, example: 'month' })
  readonly interval?: PlanInterval;
}

export class CreatePlanDto extends PlanTermsInputDto {
  @PatternField(
    /^[A-Za-z0-9_-]{1,64}$/,
    'must be 1 to 64 letters, digits, - or _',
    'Your code for the plan, 1 to 64 letters, digits, - or _; unique forever.',
    { example: 'team-monthly' },
  )
  readonly code!: string;
  @TextField('For display only.', { max: MAX_NAME_LENGTH, example: 'Team' }) readonly name!: string;
  @CurrencyField('ISO 4217; the currency of all prices.', { example: 'EUR' })
  readonly currency!: string;
  @EnumField(PLAN_INTERVALS, 'Unit of the billing period.', { example: 'month' })
  readonly interval!: PlanInterval;
  @MetadataField() readonly metadata?: Record<string, unknown>;
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
