import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { type RedeemedTerms, type RedemptionRequest, RedemptionsService } from '../coupons';
import { type Customer, customerCurrencyMismatch, CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import type { CreateSubscription } from './domain/commands';
import { decideBegin, itemsOf } from './domain/decide';
import { outcomeOf, type Outcome } from './domain/outcome';
import { periodsBegun, trialEnd } from './domain/periods';
import type { Offer, Snapshot, Subscription } from './domain/subscription';
import type { SubscriptionPreview } from './subscription-preview';
import { OffersService } from './offers.service';
import { DueSubscriptionsService } from './due-subscriptions.service';
import { NEW_IDS, SubscriptionOutcomesService } from './subscription-outcomes.service';
import { SubscriptionWatchers } from './subscription-watchers';
import { subscriptionTermsContradict } from './subscriptions.errors';
import { SUBSCRIPTION_EVENTS } from './subscriptions.events';
import { SubscriptionsRepository } from './subscriptions.repository';

const FURTHEST_BACK_MS = 2 * 366 * 86_400_000;
/** Periods that one back-dated start may begin: a year of days. */
const MOST_PERIODS = 366;

interface Setup {
  readonly customer: Customer;
  readonly now: Date;
  readonly snapshot: Snapshot;
  /** What of the start is due now: nothing where it lies ahead. */
  readonly outcome: Outcome;
  readonly redemption: RedemptionRequest | null;
}

/** Subscribes customers. */
@Injectable()
export class CreateSubscriptionService {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly offers: OffersService,
    private readonly redemptions: RedemptionsService,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly outcomes: SubscriptionOutcomesService,
    private readonly due: DueSubscriptionsService,
    private readonly watchers: SubscriptionWatchers,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Subscribes a customer: now, later, or as of a past instant. A request bills the first period; those since are due work
   * like any renewal, each in a commit of its own. On a test clock, which has no worker between advances, the request does
   * the first of them.
   * @throws {ProblemError} `reference_not_found`, `customer_currency_mismatch`, `subscription_terms_contradict`,
   *   what `RedemptionsService.redeem` throws, `test_clock_advancing`, `test_clock_failed`
   */
  create(command: CreateSubscription): Promise<Subscription> {
    return this.database.transaction(async () => {
      const { customer, now, snapshot, outcome, redemption } = await this.setup(command);
      const created = snapshot.subscription;
      await this.customers.fixCurrency(customer.id, created.currency);
      await this.subscriptions.insert(created, snapshot.items);
      await this.outbox.record(SUBSCRIPTION_EVENTS.created, { after: created, occurredAt: now });
      if (redemption !== null) await this.redemptions.redeem(redemption, now);
      if (outcome.periodOpened === null) {
        await this.watchers.tell([{ before: null, after: created }], now);
        return created;
      }
      const isOnTestClock = created.testClockId !== null;
      if (isOnTestClock && created.startAt < now) await this.outcomes.lockForTurns([created]);
      const begun = await this.outcomes.apply(created, outcome, now);
      return isOnTestClock ? this.due.runSome(begun, now) : begun;
    });
  }

  /** The first invoice that `create` would make; changes nothing. Throws what `create` throws. */
  preview(command: CreateSubscription): Promise<SubscriptionPreview> {
    return this.database.transaction(async () => {
      const { customer, now, snapshot, outcome, redemption } = await this.setup(command);
      const redeemed: RedeemedTerms[] =
        redemption === null ? [] : [await this.redemptions.preview(redemption, now)];
      return this.outcomes.preview(snapshot, outcome, customer, now, redeemed);
    });
  }

  private async setup(command: CreateSubscription): Promise<Setup> {
    const customer = await this.customers.requireForReference(command.customerId, '/customer_id');
    const now = await this.testClocks.nowFor(customer.testClockId);
    const { offer, version, currency } = await this.offers.resolveNew(command);
    if (customer.currency !== null && customer.currency !== currency) {
      throw customerCurrencyMismatch(customer.currency, currency);
    }
    const startAt = command.startAt ?? now;
    if (now.getTime() - startAt.getTime() > FURTHEST_BACK_MS) {
      throw subscriptionTermsContradict('/start_at', 'lies more than two years back');
    }
    if (command.paymentBehavior !== 'allow_active' && command.collection !== 'automatic') {
      throw subscriptionTermsContradict('/payment_behavior', 'goes with `collection: automatic`');
    }
    const trialDays = command.trialDays ?? version.trialDays;
    const subscription = subscriptionOf(command, offer, customer, { startAt, trialDays, now });
    const items = itemsOf(subscription.id, offer, startAt, NEW_IDS);
    const created = { ...subscription, currency };
    if (periodsBegun(created, now, MOST_PERIODS + 1) > MOST_PERIODS) {
      const message = `asks for more than ${MOST_PERIODS} periods to be billed at once`;
      throw subscriptionTermsContradict('/start_at', message);
    }
    const snapshot = { subscription: created, items, period: null, pending: null };
    return {
      customer,
      now,
      snapshot,
      outcome: startAt > now ? outcomeOf(created, {}) : decideBegin(snapshot, NEW_IDS, now),
      redemption: command.coupon === null ? null : redemptionOf(command.coupon, created),
    };
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
    metadata: command.metadata,
    createdAt: now,
    updatedAt: now,
  };
}

export function redemptionOf(code: string, subscription: Subscription): RedemptionRequest {
  const { id: subscriptionId, customerId, planId, currency } = subscription;
  return { code, subscriptionId, customerId, planId, currency };
}
