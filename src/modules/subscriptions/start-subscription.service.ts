import { Injectable } from '@nestjs/common';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import type { RedemptionRequest } from '../coupons';
import { type Customer, customerCurrencyMismatch, CustomersService } from '../customers';
import { ArchivedUsage } from '../metering';
import type { CreateSubscription } from './domain/commands';
import { decideStart } from './domain/decide';
import { isMetered, itemsOf } from './domain/items';
import { type Outcome, outcomeOf } from './domain/outcome';
import { periodsBegun, trialEnd, twoYearsAfter } from './domain/periods';
import type { Offer, Snapshot, Subscription } from './domain/subscription';
import { SUBSCRIPTION_IDS } from './new-ids';
import { OffersService } from './offers.service';
import { subscriptionTermsContradict } from './subscriptions.errors';
import { SUBSCRIPTION_EVENTS } from './subscriptions.events';
import { SubscriptionsRepository } from './subscriptions.repository';

/**
 * Latest start of a subscription. With this start, a trial and a first period of up to 365 years end by the year 9999.
 */
const LATEST_START = new Date('9000-12-31T23:59:59.999Z');
/** Maximum number of periods that a back-dated start may bill at once: a year of daily periods. */
const MAX_PERIODS = 366;

/** A new subscription, decided but not written yet. */
export interface SubscriptionStart {
  readonly snapshot: Snapshot;
  /** Effects of the work that is due now. A start in the future opens no period yet. */
  readonly outcome: Outcome;
  readonly redemption: RedemptionRequest | null;
}

/** Works out the start of a new subscription (its terms, trial and first period), and writes it. */
@Injectable()
export class StartSubscriptionService {
  constructor(
    private readonly offers: OffersService,
    private readonly customers: CustomersService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly outbox: Outbox,
    private readonly archivedUsage: ArchivedUsage,
  ) {}

  /**
   * Works out the start of a subscription of a locked customer, in the caller's transaction. Writes nothing.
   * @throws {ProblemError} `reference_not_found`, `plan_version_changed`, `customer_currency_mismatch`,
   *   `subscription_terms_contradict`, `subscription_too_large`
   */
  async decide(
    command: CreateSubscription,
    customer: Customer,
    now: Date,
  ): Promise<SubscriptionStart> {
    const { offer, version, currency } = await this.offers.resolveNew(command);
    if (customer.currency !== null && customer.currency !== currency) {
      throw customerCurrencyMismatch(customer.currency, currency);
    }
    const startAt = command.startAt ?? now;
    if (startAt > LATEST_START) {
      throw subscriptionTermsContradict('/start_at', 'lies after the year 9000');
    }
    if (twoYearsAfter(startAt, customer.timezone) < now) {
      throw subscriptionTermsContradict('/start_at', 'lies more than two years back');
    }
    if (command.paymentBehavior !== 'allow_active' && command.collection !== 'automatic') {
      throw subscriptionTermsContradict('/payment_behavior', 'needs `collection: automatic`');
    }
    const trialDays = command.trialDays ?? version.trialDays;
    const subscription = subscriptionOf(command, offer, customer, { startAt, trialDays, now });
    const items = itemsOf(subscription.id, offer, startAt, SUBSCRIPTION_IDS);
    const created = { ...subscription, currency };
    if (periodsBegun(created, now, MAX_PERIODS + 1) > MAX_PERIODS) {
      const message = `lies more than ${MAX_PERIODS} billing periods back`;
      throw subscriptionTermsContradict('/start_at', message);
    }
    const snapshot = { subscription: created, items, period: null, pending: null };
    return {
      snapshot,
      outcome:
        startAt > now ? outcomeOf(created, {}) : decideStart(snapshot, SUBSCRIPTION_IDS, now),
      redemption: command.coupon === null ? null : redemptionRequestOf(command.coupon, created),
    };
  }

  /**
   * Refuses a subscription with metered prices that starts in or before an archived month, because archived usage
   * cannot be billed. The caller can prevent further archiving until the transaction ends: it locks the usage streams
   * of the customer first. A stream is the events of one name.
   * @throws {ProblemError} `usage_archived`
   */
  async requireUsage({ subscription, items }: Snapshot): Promise<void> {
    if (!items.some(isMetered)) return;
    await this.archivedUsage.requireNoClosedMonthAfter(
      subscription.customerId,
      subscription.startAt,
    );
  }

  /**
   * Writes a new subscription, in the caller's transaction. Also sets the currency of its customer permanently, and
   * records `subscription.created`.
   */
  async insert({ subscription, items }: Snapshot, now: Date): Promise<void> {
    await this.customers.fixCurrency(subscription.customerId, subscription.currency);
    await this.subscriptions.insert(subscription, items);
    await this.outbox.record(SUBSCRIPTION_EVENTS.created, { after: subscription, occurredAt: now });
  }
}

function subscriptionOf(
  command: CreateSubscription,
  offer: Offer,
  customer: Customer,
  start: { readonly startAt: Date; readonly trialDays: number; readonly now: Date },
): Omit<Subscription, 'currency'> {
  const { startAt, trialDays, now } = start;
  const { planId, planVersionId, interval, intervalCount, proration, quantity, addons } = offer;
  return {
    id: newId('sub'),
    version: 1,
    customerId: customer.id,
    testClockId: customer.testClockId,
    status: 'incomplete',
    planId,
    planVersionId,
    quantity,
    addons,
    timeZone: customer.timezone,
    collection: command.collection,
    daysUntilDue: command.daysUntilDue,
    paymentBehavior: command.paymentBehavior,
    billingAnchor: command.billingAnchor,
    interval,
    intervalCount,
    proration,
    startAt,
    incompleteExpiresAt: null,
    trialEndAt: trialDays > 0 ? trialEnd(startAt, trialDays, customer.timezone) : null,
    trialEndingAt: null,
    anchorAt: startAt,
    currentPeriodStartAt: null,
    currentPeriodEndAt: null,
    pausedAt: null,
    cancelAt: null,
    canceledAt: null,
    endedAt: null,
    nextBillingAt: startAt,
    renewalFailedAt: null,
    renewalFailureCode: null,
    metadata: command.metadata,
    createdAt: now,
    updatedAt: now,
  };
}

export function redemptionRequestOf(code: string, subscription: Subscription): RedemptionRequest {
  const { id: subscriptionId, customerId, planId, currency } = subscription;
  return { code, subscriptionId, customerId, planId, currency };
}
