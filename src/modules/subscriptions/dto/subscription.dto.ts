import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  ObjectProperty,
  toWireInstant,
} from '../../../platform/http';
import {
  billedNextAt,
  BILLING_ANCHORS,
  type BillingAnchorMode,
  PAYMENT_BEHAVIORS,
  type PaymentBehavior,
  type Subscription,
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from '../domain/subscription';

export class SubscribedAddonDto {
  @ApiProperty({ description: 'The add-on.', example: 'addon_01h455vb4pex5vsknk084sn02q' })
  readonly addon_id!: string;

  @ApiProperty({ description: 'Units, as a decimal string.', example: '2' })
  readonly quantity!: string;
}

export class SubscriptionDto {
  @IdProperty('sub_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ObjectProperty('subscription')
  readonly object!: 'subscription';

  @ApiProperty({ description: 'Who subscribed.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @ApiProperty({
    enum: SUBSCRIPTION_STATUSES,
    description:
      'Where it stands; `incomplete` until it starts, and then, with an `incomplete_expires_at`, until its first invoice is paid.',
    example: 'active',
  })
  readonly status!: SubscriptionStatus;

  @ApiProperty({ description: 'The plan.', example: 'plan_01h455vb4pex5vsknk084sn02q' })
  readonly plan_id!: string;

  @ApiProperty({
    description: 'The version of the plan that it is for.',
    example: 'planv_01h455vb4pex5vsknk084sn02q',
  })
  readonly plan_version_id!: string;

  @ApiProperty({ description: 'Units of the plan, as a decimal string.', example: '5' })
  readonly quantity!: string;

  @ApiProperty({ type: [SubscribedAddonDto], description: 'What is sold beside the plan.' })
  readonly addons!: readonly SubscribedAddonDto[];

  @ApiProperty({ description: 'ISO 4217.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({
    description: 'IANA zone of the customer when it subscribed; periods are counted in it.',
    example: 'Europe/Paris',
  })
  readonly timezone!: string;

  @ApiProperty({
    enum: ['automatic', 'send_invoice'],
    description: 'How invoices are paid.',
    example: 'automatic',
  })
  readonly collection!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Days from an invoice to when it is due.',
    example: 0,
  })
  readonly days_until_due!: number;

  @ApiProperty({
    enum: BILLING_ANCHORS,
    description:
      'Whether periods count from the start, or from calendar days, weeks, months, years.',
    example: 'anniversary',
  })
  readonly billing_anchor!: BillingAnchorMode;

  @ApiProperty({
    enum: PAYMENT_BEHAVIORS,
    description: 'Whether it is active from its start, or once its first invoice is paid.',
    example: 'allow_active',
  })
  readonly payment_behavior!: PaymentBehavior;

  @InstantProperty(
    'Until when its first invoice is to be paid, while it waits for that; a payment that is under way then still counts.',
    { nullable: true },
  )
  readonly incomplete_expires_at!: string | null;

  @InstantProperty('When it starts or started.')
  readonly start_at!: string;

  @InstantProperty('When its trial ends or ended.', { nullable: true })
  readonly trial_end_at!: string | null;

  @InstantProperty('Start of the period that runs, or ran last.', { nullable: true })
  readonly current_period_start!: string | null;

  @InstantProperty('End of that period, exclusive.', { nullable: true })
  readonly current_period_end!: string | null;

  @InstantProperty('Since when it is paused.', { nullable: true })
  readonly paused_at!: string | null;

  @InstantProperty('When it is to end.', { nullable: true })
  readonly cancel_at!: string | null;

  @InstantProperty('When it was said that it ends.', { nullable: true })
  readonly canceled_at!: string | null;

  @InstantProperty('When it ended.', { nullable: true })
  readonly ended_at!: string | null;

  @InstantProperty('When it is billed next, or ends.', { nullable: true })
  readonly next_billing_at!: string | null;

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toSubscriptionDto(subscription: Subscription): SubscriptionDto {
  return {
    id: subscription.id,
    object: 'subscription',
    customer_id: subscription.customerId,
    status: subscription.status,
    plan_id: subscription.planId,
    plan_version_id: subscription.planVersionId,
    quantity: subscription.quantity,
    addons: subscription.addons.map(({ addonId, quantity }) => ({ addon_id: addonId, quantity })),
    currency: subscription.currency,
    timezone: subscription.timeZone,
    collection: subscription.collection,
    days_until_due: subscription.daysUntilDue,
    billing_anchor: subscription.billingAnchor,
    payment_behavior: subscription.paymentBehavior,
    incomplete_expires_at: toWireInstant(subscription.incompleteExpiresAt),
    start_at: toWireInstant(subscription.startAt),
    trial_end_at: toWireInstant(subscription.trialEndAt),
    current_period_start: toWireInstant(subscription.currentPeriodStartAt),
    current_period_end: toWireInstant(subscription.currentPeriodEndAt),
    paused_at: toWireInstant(subscription.pausedAt),
    cancel_at: toWireInstant(subscription.cancelAt),
    canceled_at: toWireInstant(subscription.canceledAt),
    ended_at: toWireInstant(subscription.endedAt),
    next_billing_at: toWireInstant(billedNextAt(subscription)),
    metadata: subscription.metadata,
    created_at: toWireInstant(subscription.createdAt),
    updated_at: toWireInstant(subscription.updatedAt),
  };
}
