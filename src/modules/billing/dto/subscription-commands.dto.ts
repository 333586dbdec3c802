import { Transform } from 'class-transformer';
import {
  BooleanField,
  DecimalField,
  EnumField,
  IdField,
  InstantField,
  IntegerField,
  MetadataField,
  NestedListField,
  PatternField,
  TextField,
  toInstant,
} from '../../../platform/http';
import {
  type AddonQuantity,
  BILLING_ANCHORS,
  type BillingAnchorMode,
  type CancelSubscription,
  type ChangeSubscription,
  type CreateSubscription,
  PAYMENT_BEHAVIORS,
  type PaymentBehavior,
  type PlanVersionChoice,
} from '../../subscriptions';

const MAX_ADDONS = 20;
const MAX_TRIAL_DAYS = 730;
const MAX_DAYS_UNTIL_DUE = 365;
const MAX_CODE_LENGTH = 64;

const COLLECTIONS = ['automatic', 'send_invoice'] as const;
const CHANGE_TIMES = ['now', 'period_end'] as const;
const CANCEL_TIMES = ['now', 'period_end', 'at'] as const;
const CHANGE_PRORATIONS = ['prorate', 'none'] as const;

/**
 * Field for the plan version that the client saw in a preview of the command. The command is refused if it would now
 * sell or schedule another version, for example because a new version became active after the preview. The check
 * ignores a change that was scheduled earlier, because such a change keeps its version.
 */
const ExpectedVersionField = (): PropertyDecorator =>
  IdField('planv', 'Version in the preview. Refused if another would be sold or scheduled.', {
    nullable: true,
    example: 'planv_01h455vb4pex5vsknk084sn02q',
  });

export class AddonInputDto {
  @IdField('addon', 'The add-on.', { example: 'addon_01h455vb4pex5vsknk084sn02q' })
  readonly addon_id!: string;
  @DecimalField('Units, as a decimal string.', { optional: true, default: '1', example: '2' })
  readonly quantity?: string;
}

export class CreateSubscriptionDto {
  @IdField('cus', 'Customer who subscribes.', { example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;
  @IdField('plan', 'The plan.', { example: 'plan_01h455vb4pex5vsknk084sn02q' })
  readonly plan_id!: string;
  @ExpectedVersionField()
  readonly plan_version_id?: string | null;
  @DecimalField('Units of the plan, as a decimal string.', {
    optional: true,
    default: '1',
    example: '5',
  })
  readonly quantity?: string;
  @NestedListField(AddonInputDto, 'Add-ons sold with the plan.', {
    max: MAX_ADDONS,
    optional: true,
  })
  readonly addons?: readonly AddonInputDto[];
  @TextField('The code of a coupon.', {
    max: MAX_CODE_LENGTH,
    nullable: true,
    example: 'WELCOME20',
  })
  readonly coupon?: string | null;
  @InstantField('Start, at most two years and at most 366 periods ago. Default: now.', {
    nullable: true,
    example: null,
  })
  readonly start_at?: string | null;
  @EnumField(
    BILLING_ANCHORS,
    'Periods follow the start date or the calendar. With `calendar` the first period may be shorter.',
    { optional: true, default: 'anniversary', example: 'anniversary' },
  )
  readonly billing_anchor?: BillingAnchorMode;
  @IntegerField('Free days at the start. Default: the trial of the plan.', {
    min: 0,
    max: MAX_TRIAL_DAYS,
    nullable: true,
    example: 14,
  })
  readonly trial_days?: number | null;
  @EnumField(COLLECTIONS, 'Invoices are charged automatically, or sent to the customer to pay.', {
    optional: true,
    default: 'automatic',
    example: 'automatic',
  })
  readonly collection?: 'automatic' | 'send_invoice';
  @IntegerField('Days until a finalized invoice is due.', {
    min: 0,
    max: MAX_DAYS_UNTIL_DUE,
    optional: true,
    default: 0,
    example: 14,
  })
  readonly days_until_due?: number;
  @EnumField(
    PAYMENT_BEHAVIORS,
    '`allow_active`: active from its start, even if the first invoice is not paid. `default_incomplete`: if that invoice ' +
      'has an amount due, `incomplete` and without entitlements until it is paid in full, or `incomplete_expired` after ' +
      '23 hours; needs `collection: automatic`.',
    { optional: true, default: 'allow_active', example: 'allow_active' },
  )
  readonly payment_behavior?: PaymentBehavior;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export class ChangeSubscriptionDto {
  @IdField('plan', 'The plan to change to. Default: the current plan.', {
    nullable: true,
    example: 'plan_01h455vb4pex5vsknk084sn02q',
  })
  readonly plan_id?: string | null;
  @PatternField(
    /^(current|latest|planv_[0-7][0-9a-hjkmnp-tv-z]{25})$/,
    'must be current, latest or an id that starts with planv_',
    'Version of the plan: `current` (that of the subscription), `latest` (the active one) or the id of a version. ' +
      'Default: `latest` with `plan_id`, otherwise `current`.',
    { nullable: true, example: 'latest' },
  )
  readonly plan_version?: string | null;
  @ExpectedVersionField()
  readonly plan_version_id?: string | null;
  @DecimalField('Units of the plan. Default: unchanged.', { nullable: true, example: '8' })
  readonly quantity?: string | null;
  @NestedListField(AddonInputDto, 'All add-ons afterwards. Default: unchanged.', {
    max: MAX_ADDONS,
    nullable: true,
  })
  readonly addons?: readonly AddonInputDto[] | null;
  @EnumField(CHANGE_TIMES, 'Now, or with the next period.', { example: 'now' })
  readonly when!: 'now' | 'period_end';
  @EnumField(
    CHANGE_PRORATIONS,
    'For a change now. `prorate`: credits the unused part of what was paid in advance and charges the rest of the period. ' +
      '`none`: new prices start with the next period, and another interval waits for it, as with `when: period_end`. ' +
      'Default: as the plan says.',
    { nullable: true, example: 'prorate' },
  )
  readonly proration?: 'prorate' | 'none' | null;
}

export class CancelSubscriptionDto {
  @EnumField(CANCEL_TIMES, 'Now, at the end of the period, or at an instant.', {
    example: 'period_end',
  })
  readonly when!: 'now' | 'period_end' | 'at';
  @InstantField('The end, for `when: at`.', { nullable: true, example: null })
  readonly at?: string | null;
  @BooleanField(
    'True if the unused part of charges in advance is credited, except of items of a plan version with `proration: none`.',
    {
      optional: true,
      default: false,
      example: true,
    },
  )
  readonly credit_unused?: boolean;
}

export class RedeemCouponDto {
  @TextField('The code of a coupon.', { max: MAX_CODE_LENGTH, example: 'WELCOME20' })
  readonly code!: string;
}

export class PreviewQueryDto {
  @Transform(({ value }: { value: unknown }) =>
    value === 'true' ? true : value === 'false' ? false : value,
  )
  @BooleanField(
    'Changes nothing and returns the invoice that the command would make, without id and number, or else the next ' +
      'invoice of the subscription. Uses up no `Idempotency-Key`. The `ETag` is that of the subscription.',
    { optional: true, default: false },
  )
  readonly preview?: boolean;
}

function toAddons(addons: readonly AddonInputDto[]): readonly AddonQuantity[] {
  return addons.map(({ addon_id: addonId, quantity }) => ({ addonId, quantity: quantity ?? '1' }));
}

export function toCreateSubscription(dto: CreateSubscriptionDto): CreateSubscription {
  return {
    customerId: dto.customer_id,
    planId: dto.plan_id,
    planVersionId: dto.plan_version_id ?? null,
    quantity: dto.quantity ?? '1',
    addons: toAddons(dto.addons ?? []),
    coupon: dto.coupon ?? null,
    startAt: toInstant(dto.start_at),
    billingAnchor: dto.billing_anchor ?? 'anniversary',
    trialDays: dto.trial_days ?? null,
    collection: dto.collection ?? 'automatic',
    daysUntilDue: dto.days_until_due ?? 0,
    paymentBehavior: dto.payment_behavior ?? 'allow_active',
    metadata: dto.metadata ?? {},
  };
}

function toPlanVersion(text: string | null | undefined): PlanVersionChoice | null {
  if (text === null || text === undefined) return null;
  return text === 'current' || text === 'latest' ? text : { id: text };
}

export function toChangeSubscription(dto: ChangeSubscriptionDto): ChangeSubscription {
  return {
    planId: dto.plan_id ?? null,
    planVersion: toPlanVersion(dto.plan_version),
    planVersionId: dto.plan_version_id ?? null,
    quantity: dto.quantity ?? null,
    addons: dto.addons ? toAddons(dto.addons) : null,
    when: dto.when,
    proration: dto.proration ?? null,
  };
}

export function toCancelSubscription(dto: CancelSubscriptionDto): CancelSubscription {
  return { when: dto.when, at: toInstant(dto.at), creditUnused: dto.credit_unused ?? false };
}
