import {
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MetadataProperty,
  NestedListProperty,
  ObjectProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import {
  nextBillingOrEndAt,
  BILLING_ANCHORS,
  type BillingAnchorMode,
  PAYMENT_BEHAVIORS,
  type PaymentBehavior,
  type Subscription,
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from '../domain/subscription';

export class SubscribedAddonDto {
  @TextProperty('The add-on.', 'addon_01h455vb4pex5vsknk084sn02q') readonly addon_id!: string;
  @TextProperty('Units, as a decimal string.', '2') readonly quantity!: string;
}

export class SubscriptionDto {
  @IdProperty('sub_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @ObjectProperty('subscription') readonly object!: 'subscription';
  @TextProperty('Customer who subscribed.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @EnumProperty(
    SUBSCRIPTION_STATUSES,
    'Status. `incomplete`: it has not started yet, or (with `incomplete_expires_at`) its first invoice is not paid yet.',
    'active',
  )
  readonly status!: SubscriptionStatus;
  @TextProperty('The plan.', 'plan_01h455vb4pex5vsknk084sn02q') readonly plan_id!: string;
  @TextProperty('The subscribed version of the plan.', 'planv_01h455vb4pex5vsknk084sn02q')
  readonly plan_version_id!: string;
  @TextProperty('Units of the plan, as a decimal string.', '5') readonly quantity!: string;
  @NestedListProperty(SubscribedAddonDto, 'Add-ons beside the plan.')
  readonly addons!: readonly SubscribedAddonDto[];
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @TextProperty('IANA time zone that its periods follow, copied from the customer.', 'Europe/Paris')
  readonly timezone!: string;
  @EnumProperty(['automatic', 'send_invoice'], 'How invoices are paid.', 'automatic')
  readonly collection!: string;
  @IntegerProperty('Days from an invoice until it is due.', 0) readonly days_until_due!: number;
  @EnumProperty(
    BILLING_ANCHORS,
    'Periods count from the start, or from calendar days, weeks, months, years.',
    'anniversary',
  )
  readonly billing_anchor!: BillingAnchorMode;
  @EnumProperty(
    PAYMENT_BEHAVIORS,
    'The subscription is active from its start, or from the payment of its first invoice.',
    'allow_active',
  )
  readonly payment_behavior!: PaymentBehavior;
  @InstantProperty(
    'Time limit of the first payment. A payment in flight at this time still counts. Null if no first payment is awaited.',
    { nullable: true, example: null },
  )
  readonly incomplete_expires_at!: string | null;
  @InstantProperty('When it starts or started.') readonly start_at!: string;
  @InstantProperty('When its trial ends or ended.', { nullable: true, example: null })
  readonly trial_end_at!: string | null;
  @InstantProperty('Start of the current or last period.', { nullable: true })
  readonly current_period_start!: string | null;
  @InstantProperty('End of that period, exclusive.', {
    nullable: true,
    example: '2026-04-01T09:30:00.000Z',
  })
  readonly current_period_end!: string | null;
  @InstantProperty('Time since which it is paused.', { nullable: true, example: null })
  readonly paused_at!: string | null;
  @InstantProperty('When it is to end.', { nullable: true, example: null }) readonly cancel_at!:
    string | null;
  @InstantProperty(
    'Time at which the cancellation was requested, or at which the subscription ended without a request.',
    { nullable: true, example: null },
  )
  readonly canceled_at!: string | null;
  @InstantProperty('When it ended.', { nullable: true, example: null }) readonly ended_at!:
    string | null;
  @InstantProperty('Time of the next billing, or of the end.', {
    nullable: true,
    example: '2026-04-01T09:30:00.000Z',
  })
  readonly next_billing_at!: string | null;
  @InstantProperty('Time since which renewal or other due work has failed. The work is retried.', {
    nullable: true,
    example: null,
  })
  readonly renewal_failed_at!: string | null;
  @TextProperty('Error code of that failure.', null, { nullable: true })
  readonly renewal_failure_code!: string | null;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toSubscriptionDto(subscription: Subscription): SubscriptionDto {
  return toDto(SubscriptionDto, {
    ...subscription,
    object: 'subscription',
    addons: subscription.addons.map(({ addonId, quantity }) => ({ addon_id: addonId, quantity })),
    timezone: subscription.timeZone,
    currentPeriodStart: subscription.currentPeriodStartAt,
    currentPeriodEnd: subscription.currentPeriodEndAt,
    nextBillingAt: nextBillingOrEndAt(subscription),
  });
}
