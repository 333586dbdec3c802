import {
  CurrencyField,
  EnumField,
  IdListField,
  InstantField,
  IntegerField,
  MetadataField,
  MinorUnitsField,
  PatternField,
  TextField,
} from '../../../platform/http';
import {
  COUPON_DURATIONS,
  COUPON_TYPES,
  type CouponDuration,
  type CouponTerms,
  type CouponType,
} from '../domain/coupon';

const MAX_PLANS = 100;
const MAX_COUNT = 2_147_483_647;

export class CreateCouponDto {
  @PatternField(
    /^[A-Za-z0-9_-]{1,64}$/,
    'must be 1 to 64 letters, digits, - or _',
    'Code that customers enter; unique. Default: a generated code.',
    { optional: true, example: 'WELCOME20' },
  )
  readonly code?: string;
  @TextField('For display only.', { max: 200, nullable: true, example: 'Welcome' })
  readonly name?: string | null;
  @EnumField(COUPON_TYPES, 'Kind of discount: a percentage or an amount.', { example: 'percent' })
  readonly type!: CouponType;
  @PatternField(
    /^(?!0+(\.0+)?$)(100(\.0{1,4})?|(0|[1-9]\d?)(\.\d{1,4})?)$/,
    'must be a decimal string above 0 and up to 100, with at most 4 decimals',
    'Percent, as a decimal string; for type `percent`.',
    { nullable: true, example: '20' },
  )
  readonly percent_off?: string | null;
  @MinorUnitsField(
    1,
    'Minor units of `currency`; for type `amount`. Taken off once per billing period of the subscription, across all invoices of the period; with duration `once`, only once in total.',
    { nullable: true },
  )
  readonly amount_off?: number | null;
  @CurrencyField('ISO 4217; for type `amount`.', { nullable: true })
  readonly currency?: string | null;
  @EnumField(COUPON_DURATIONS, 'How long the discount lasts.', { example: 'once' })
  readonly duration!: CouponDuration;
  @IntegerField(
    'Number of months from the start of the first discounted billing period; for `repeating`.',
    { min: 1, max: 1_200, nullable: true },
  )
  readonly duration_in_months?: number | null;
  @IntegerField('Maximum number of redemptions. Default: no limit.', {
    min: 1,
    max: MAX_COUNT,
    nullable: true,
    example: 100,
  })
  readonly max_redemptions?: number | null;
  @InstantField('Last instant at which the coupon can be redeemed.', {
    nullable: true,
    example: '2030-01-01T00:00:00.000Z',
  })
  readonly redeem_by?: string | null;
  @IdListField(
    'plan',
    'Ids of the plans whose prices are discounted, but not those of add-ons. Default: all prices.',
    { max: MAX_PLANS, optional: true, example: [] },
  )
  readonly plan_ids?: readonly string[];
  @MetadataField() readonly metadata?: Record<string, unknown>;
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
