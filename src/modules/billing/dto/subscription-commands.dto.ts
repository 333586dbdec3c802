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

export class AddonInputDto {
  @IdField('addon', 'The add-on.', { example: 'addon_01h455vb4pex5vsknk084sn02q' })
  readonly addon_id!: string;
  @DecimalField('Units, as a decimal string.', { optional: true, default: '1', example: '2' })
  readonly quantity?: string;
}

export class CreateSubscriptionDto {
  @IdField('cus', 'Who subscribes.', { example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;
  @IdField('plan', 'The plan.', { example: 'plan_01h455vb4pex5vsknk084sn02q' })
  readonly plan_id!: string;
  @DecimalField('Units of the plan, as a decimal string.', {
    optional: true,
    default: '1',
    example: '5',
  })
  readonly quantity?: string;
  @NestedListField(AddonInputDto, 'What is sold beside the plan.', {
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
  @InstantField(
    'When it starts; left out: now. In the past, at most two years and 366 periods, the first period is billed at once and ' +
      'the periods since in the background.',
    { nullable: true, example: null },
  )
  readonly start_at?: string | null;
  @EnumField(
    BILLING_ANCHORS,
    'Periods count from the start, or from the first of the calendar: then the first is a short one.',
    { optional: true, default: 'anniversary', example: 'anniversary' },
  )
  readonly billing_anchor?: BillingAnchorMode;
  @IntegerField('Days that are free at the start; left out: as the plan says.', {
    min: 0,
    max: MAX_TRIAL_DAYS,
    nullable: true,
    example: 14,
  })
  readonly trial_days?: number | null;
  @EnumField(COLLECTIONS, 'Whether invoices are taken from the customer, or sent to be paid.', {
    optional: true,
    default: 'automatic',
    example: 'automatic',
  })
  readonly collection?: 'automatic' | 'send_invoice';
  @IntegerField('Days from an invoice to when it is due.', {
    min: 0,
    max: MAX_DAYS_UNTIL_DUE,
    optional: true,
    default: 0,
    example: 14,
  })
  readonly days_until_due?: number;
  @EnumField(
    PAYMENT_BEHAVIORS,
    'With `allow_active` it is active from its start, whatever becomes of its first invoice. With `default_incomplete`, ' +
      'where that invoice is to be paid, it is `incomplete` and gives nothing until it is paid in full, and ' +
      '`incomplete_expired` where that takes longer than 23 hours. Goes with `collection: automatic`.',
    { optional: true, default: 'allow_active', example: 'allow_active' },
  )
  readonly payment_behavior?: PaymentBehavior;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export class ChangeSubscriptionDto {
  @IdField(
    'plan',
    'The plan to change to, in its active version unless `plan_version` names another; left out: plan and version stay.',
    { nullable: true, example: 'plan_01h455vb4pex5vsknk084sn02q' },
  )
  readonly plan_id?: string | null;
  @PatternField(
    /^(current|latest|planv_[0-7][0-9a-hjkmnp-tv-z]{25})$/,
    'must be current, latest or an id that starts with planv_',
    'The version of the plan: `current` is the one the subscription has, `latest` the active one, or the id of a ' +
      'version. Left out: `current` without `plan_id`, `latest` with it.',
    { nullable: true, example: 'latest' },
  )
  readonly plan_version?: string | null;
  @DecimalField('Units of the plan; left out: they stay.', { nullable: true, example: '8' })
  readonly quantity?: string | null;
  @NestedListField(AddonInputDto, 'All add-ons afterwards; left out: they stay.', {
    max: MAX_ADDONS,
    nullable: true,
  })
  readonly addons?: readonly AddonInputDto[] | null;
  @EnumField(CHANGE_TIMES, 'Now, or with the next period.', { example: 'now' })
  readonly when!: 'now' | 'period_end';
  @EnumField(
    CHANGE_PRORATIONS,
    'Whether a change now credits what is unused and charges the rest of the period (`prorate`), or the new price ' +
      'starts with the next period (`none`); left out: as the plan says. Without it a change to another interval waits ' +
      'for the end of the period, as with `when: period_end`.',
    { nullable: true, example: 'prorate' },
  )
  readonly proration?: 'prorate' | 'none' | null;
}

export class CancelSubscriptionDto {
  @EnumField(CANCEL_TIMES, 'Now, with the end of the period, or at an instant.', {
    example: 'period_end',
  })
  readonly when!: 'now' | 'period_end' | 'at';
  @InstantField('The instant, for `at`.', { nullable: true, example: null })
  readonly at?: string | null;
  @BooleanField('Whether what was paid in advance and is not used is credited.', {
    optional: true,
    default: false,
    example: true,
  })
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
    'Answer with the next invoice after this, without id and number, and change nothing. Where the command bills nothing ' +
      'by itself, that is the invoice of the end of the period, as things stand. Does not use up an `Idempotency-Key`.',
    { optional: true, default: false },
  )
  readonly preview?: boolean;
}

function toAddons(addons: readonly AddonInputDto[]): readonly AddonQuantity[] {
  return addons.map(({ addon_id: addonId, quantity }) => ({ addonId, quantity: quantity ?? '1' }));
}

function toInstant(text: string | null | undefined): Date | null {
  return typeof text === 'string' ? new Date(text) : null;
}

export function toCreateSubscription(dto: CreateSubscriptionDto): CreateSubscription {
  return {
    customerId: dto.customer_id,
    planId: dto.plan_id,
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
    quantity: dto.quantity ?? null,
    addons: dto.addons ? toAddons(dto.addons) : null,
    when: dto.when,
    proration: dto.proration ?? null,
  };
}

export function toCancelSubscription(dto: CancelSubscriptionDto): CancelSubscription {
  return { when: dto.when, at: toInstant(dto.at), creditUnused: dto.credit_unused ?? false };
}
