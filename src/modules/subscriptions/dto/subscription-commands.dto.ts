import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
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
  IsDecimal,
  IsIdOf,
  IsInstant,
  IsText,
  ListQueryDto,
  MetadataField,
  Nullable,
  Omittable,
} from '../../../platform/http';
import type {
  CancelSubscription,
  ChangeSubscription,
  CreateSubscription,
  PlanVersionChoice,
} from '../domain/commands';
import {
  type AddonQuantity,
  BILLING_ANCHORS,
  type BillingAnchorMode,
  PAYMENT_BEHAVIORS,
  type PaymentBehavior,
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from '../domain/subscription';

const MOST_ADDONS = 20;
const MOST_TRIAL_DAYS = 730;
const MOST_DAYS_UNTIL_DUE = 365;
const LONGEST_CODE = 64;

const COLLECTIONS = ['automatic', 'send_invoice'] as const;
const CHANGE_TIMES = ['now', 'period_end'] as const;
const CANCEL_TIMES = ['now', 'period_end', 'at'] as const;
const CHANGE_PRORATIONS = ['prorate', 'none'] as const;

export class AddonInputDto {
  @IsIdOf('addon')
  @ApiProperty({ description: 'The add-on.', example: 'addon_01h455vb4pex5vsknk084sn02q' })
  readonly addon_id!: string;

  @Omittable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    default: '1',
    description: 'Units, as a decimal string.',
    example: '2',
  })
  readonly quantity?: string;
}

export class CreateSubscriptionDto {
  @IsIdOf('cus')
  @ApiProperty({ description: 'Who subscribes.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @IsIdOf('plan')
  @ApiProperty({ description: 'The plan.', example: 'plan_01h455vb4pex5vsknk084sn02q' })
  readonly plan_id!: string;

  @Omittable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    default: '1',
    description: 'Units of the plan, as a decimal string.',
    example: '5',
  })
  readonly quantity?: string;

  @Omittable()
  @IsArray()
  @ArrayMaxSize(MOST_ADDONS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AddonInputDto)
  @ApiPropertyOptional({
    type: [AddonInputDto],
    maxItems: MOST_ADDONS,
    description: 'What is sold beside the plan.',
  })
  readonly addons?: readonly AddonInputDto[];

  @Nullable()
  @IsText(1, LONGEST_CODE)
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    minLength: 1,
    maxLength: LONGEST_CODE,
    description: 'The code of a coupon.',
    example: 'WELCOME20',
  })
  readonly coupon?: string | null;

  @Nullable()
  @IsInstant()
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'When it starts; left out: now. In the past, at most two years and 366 periods, the first period is billed at once and ' +
      'the periods since in the background.',
    example: null,
  })
  readonly start_at?: string | null;

  @Omittable()
  @IsIn(BILLING_ANCHORS)
  @ApiPropertyOptional({
    enum: BILLING_ANCHORS,
    default: 'anniversary',
    description:
      'Periods count from the start, or from the first of the calendar: then the first is a short one.',
    example: 'anniversary',
  })
  readonly billing_anchor?: BillingAnchorMode;

  @Nullable()
  @IsInt()
  @Min(0)
  @Max(MOST_TRIAL_DAYS)
  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    minimum: 0,
    maximum: MOST_TRIAL_DAYS,
    description: 'Days that are free at the start; left out: as the plan says.',
    example: 14,
  })
  readonly trial_days?: number | null;

  @Omittable()
  @IsIn(COLLECTIONS)
  @ApiPropertyOptional({
    enum: COLLECTIONS,
    default: 'automatic',
    description: 'Whether invoices are taken from the customer, or sent to be paid.',
    example: 'automatic',
  })
  readonly collection?: 'automatic' | 'send_invoice';

  @Omittable()
  @IsInt()
  @Min(0)
  @Max(MOST_DAYS_UNTIL_DUE)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MOST_DAYS_UNTIL_DUE,
    default: 0,
    description: 'Days from an invoice to when it is due.',
    example: 14,
  })
  readonly days_until_due?: number;

  @Omittable()
  @IsIn(PAYMENT_BEHAVIORS)
  @ApiPropertyOptional({
    enum: PAYMENT_BEHAVIORS,
    default: 'allow_active',
    description:
      'With `allow_active` it is active from its start, whatever becomes of its first invoice. With `default_incomplete`, ' +
      'where that invoice is to be paid, it is `incomplete` and gives nothing until it is paid in full, and ' +
      '`incomplete_expired` where that takes longer than 23 hours. Goes with `collection: automatic`.',
    example: 'allow_active',
  })
  readonly payment_behavior?: PaymentBehavior;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export class ChangeSubscriptionDto {
  @Nullable()
  @IsIdOf('plan')
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'The plan to change to, in its active version unless `plan_version` names another; left out: plan and version stay.',
    example: 'plan_01h455vb4pex5vsknk084sn02q',
  })
  readonly plan_id?: string | null;

  @Nullable()
  @Matches(/^(current|latest|planv_[0-7][0-9a-hjkmnp-tv-z]{25})$/, {
    message: 'must be current, latest or an id that starts with planv_',
  })
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'The version of the plan: `current` is the one the subscription has, `latest` the active one, or the id of a ' +
      'version. Left out: `current` without `plan_id`, `latest` with it.',
    example: 'latest',
  })
  readonly plan_version?: string | null;

  @Nullable()
  @IsDecimal()
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Units of the plan; left out: they stay.',
    example: '8',
  })
  readonly quantity?: string | null;

  @Nullable()
  @IsArray()
  @ArrayMaxSize(MOST_ADDONS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AddonInputDto)
  @ApiPropertyOptional({
    type: [AddonInputDto],
    maxItems: MOST_ADDONS,
    nullable: true,
    description: 'All add-ons afterwards; left out: they stay.',
  })
  readonly addons?: readonly AddonInputDto[] | null;

  @IsIn(CHANGE_TIMES)
  @ApiProperty({
    enum: CHANGE_TIMES,
    description: 'Now, or with the next period.',
    example: 'now',
  })
  readonly when!: 'now' | 'period_end';

  @Nullable()
  @IsIn(CHANGE_PRORATIONS)
  @ApiPropertyOptional({
    enum: CHANGE_PRORATIONS,
    nullable: true,
    description:
      'Whether a change now credits what is unused and charges the rest of the period (`prorate`), or the new price ' +
      'starts with the next period (`none`); left out: as the plan says. Without it a change to another interval waits ' +
      'for the end of the period, as with `when: period_end`.',
    example: 'prorate',
  })
  readonly proration?: 'prorate' | 'none' | null;
}

export class CancelSubscriptionDto {
  @IsIn(CANCEL_TIMES)
  @ApiProperty({
    enum: CANCEL_TIMES,
    description: 'Now, with the end of the period, or at an instant.',
    example: 'period_end',
  })
  readonly when!: 'now' | 'period_end' | 'at';

  @Nullable()
  @IsInstant()
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The instant, for `at`.',
    example: null,
  })
  readonly at?: string | null;

  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    default: false,
    description: 'Whether what was paid in advance and is not used is credited.',
    example: true,
  })
  readonly credit_unused?: boolean;
}

export class RedeemCouponDto {
  @IsText(1, LONGEST_CODE)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_CODE,
    description: 'The code of a coupon.',
    example: 'WELCOME20',
  })
  readonly code!: string;
}

export class PreviewQueryDto {
  @Omittable()
  @Transform(({ value }: { value: unknown }) =>
    value === 'true' ? true : value === 'false' ? false : value,
  )
  @IsBoolean()
  @ApiPropertyOptional({
    type: Boolean,
    default: false,
    description:
      'Answer with the next invoice after this, without id and number, and change nothing. Where the command bills nothing ' +
      'by itself, that is the invoice of the end of the period, as things stand.',
  })
  readonly preview?: boolean;
}

export class ListSubscriptionsDto extends ListQueryDto {
  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only the subscriptions of this customer.' })
  readonly customer_id?: string;

  @Omittable()
  @IsIn(SUBSCRIPTION_STATUSES)
  @ApiPropertyOptional({
    enum: SUBSCRIPTION_STATUSES,
    description: 'Only subscriptions that stand here.',
  })
  readonly status?: SubscriptionStatus;
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
