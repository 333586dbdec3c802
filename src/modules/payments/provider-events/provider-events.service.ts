import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs } from '../../../platform/jobs';
import { isId } from '../../../platform/ids';
import { FREQUENT_ATTEMPTS, LATE_ATTEMPTS } from '../../../platform/processes';
import { webhookSignatureInvalid } from '../payments.errors';
import { ProviderGateway } from '../providers/provider-gateway';
import { StripeWebhooks } from '../providers/stripe/stripe-webhooks';
import {
  type EventListing,
  type KnownEvent,
  ProviderEventsRepository,
} from './provider-events.repository';

export const PROVIDER_EVENTS_WORK = 'due-provider-events';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Overlap of each listing with the period already read, because the provider may list events late. */
const OVERLAP_MS = 5 * MINUTE_MS;
/**
 * Time for which processed events are kept, in milliseconds. Must be longer than the 30 days for which the provider
 * lists events. Otherwise an event that was deleted here could be listed and stored again.
 */
const RETENTION_MS = 40 * DAY_MS;
const DELETE_BATCH_SIZE = 1_000;
/**
 * Time for which an event is tried again if the provider does not have its object. Equals the time for which the
 * provider lists events.
 */
const MISSING_OBJECT_MS = 30 * DAY_MS;

/**
 * Result of applying an event. true: done. false: the event has to be applied again. `missing`: the provider account of
 * our API key does not have the object of the event.
 */
export type ApplyResult = boolean | 'missing';

/**
 * Stores events of Stripe, and the results of applying them. Events come from notifications, or from Stripe's list of
 * events if a notification did not arrive.
 */
@Injectable()
export class ProviderEventsService {
  private readonly logger = new Logger('provider-events');

  constructor(
    private readonly events: ProviderEventsRepository,
    private readonly webhooks: StripeWebhooks,
    private readonly gateway: ProviderGateway,
    private readonly clock: Clock,
    private readonly jobs: Jobs,
  ) {}

  /**
   * Stores a notification, unless it is already stored.
   * @throws {ProblemError} `payment_provider_not_enabled`, `webhook_signature_invalid`
   */
  async receive(raw: Buffer, signature: string): Promise<void> {
    this.gateway.requireEnabled('stripe');
    const now = this.clock.now();
    const event = this.webhooks.parse(raw, signature, now);
    if (event === null) throw webhookSignatureInvalid();
    await this.events.insertIfNew('stripe', event, now);
    this.jobs.wake(PROVIDER_EVENTS_WORK);
  }

  find(id: string): Promise<KnownEvent | null> {
    return this.events.find(id);
  }

  /**
   * Records the result of applying an event. Returns false if the event has to be applied again.
   * - If Stripe does not have the object, the API key may be wrong, or the event may be of another account. The event
   *   is then tried once an hour, until 30 days after it was received.
   * - If an event succeeds after many attempts, the key may have been corrected. All failed events then become due,
   *   before this event counts as processed: automatic charges must not stop waiting in between. Events about setups do
   *   not have this effect, because a setup also ends if Stripe does not have it.
   */
  async finish(event: KnownEvent, result: ApplyResult): Promise<boolean> {
    const { id, provider, type, objectId, subjectId } = event;
    const attempts = event.attempts + 1;
    const line = { provider, type, reference: objectId ?? subjectId, attempts };
    if (result === 'missing' && this.isGivenUp(event)) {
      const message =
        'an event of a provider is given up: its object has been missing there for 30 days';
      this.logger.error(line, message);
    } else if (result !== true) {
      const message =
        'an event of a provider is not applied: its object cannot be read or recorded';
      if (attempts >= FREQUENT_ATTEMPTS) this.logger.error(line, message);
      if (result === 'missing') await this.events.endFrequentAttempts(id);
      return false;
    } else if (event.attempts >= LATE_ATTEMPTS && !isId('pms', subjectId)) {
      await this.events.tryWaitingAgain(provider, this.clock.now(), null);
    }
    await this.events.markProcessed(id);
    return true;
  }

  private isGivenUp({ receivedAt }: KnownEvent): boolean {
    return this.clock.now().getTime() - receivedAt.getTime() >= MISSING_OBJECT_MS;
  }

  /**
   * Lists the provider's events since the last listing, and stores the missing ones. At most one process lists events
   * at a time, about once a minute. A listing that fails continues later, after the last stored page.
   */
  async listMissed(): Promise<void> {
    if (!this.gateway.isEnabled('stripe')) return;
    const now = this.clock.now();
    const listing = await this.events.claimCursor('stripe', now, aMinuteAfter(now));
    if (listing === null) return;
    const ended = await this.readPages(listing);
    this.jobs.wake(PROVIDER_EVENTS_WORK);
    if (ended === null) return;
    await this.events.endListing('stripe', ended);
    await this.events.removeOld(new Date(now.getTime() - RETENTION_MS), DELETE_BATCH_SIZE);
  }

  /**
   * Stores the events of a listing, newest first. Returns the complete listing; null if the listing is not complete and
   * must be resumed later.
   */
  private async readPages(claimed: EventListing): Promise<EventListing | null> {
    const since = new Date(claimed.storedUntil.getTime() - OVERLAP_MS);
    let listing = claimed;
    for (;;) {
      const page = await this.webhooks.listSince(since, listing.pageAfter);
      if (page === null) {
        this.logger.warn({ read_until: listing.storedUntil }, 'Stripe did not list its events');
        return null;
      }
      if (page === 'gone') {
        await this.events.restartListing('stripe', listing, this.clock.now());
        return null;
      }
      const now = this.clock.now();
      // The clock may have been ahead when the list began.
      const receivedAt = listing.listingAt < now ? listing.listingAt : now;
      for (const event of page.events) await this.events.insertIfNew('stripe', event, receivedAt);
      // A clock that is ahead of the provider's would pass over events that the provider dates by its own.
      if (listing.pageAfter === null) listing = { ...listing, providerListingAt: page.answeredAt };
      if (page.next === null) return listing;
      listing = { ...listing, pageAfter: page.next };
      await this.events.recordPage('stripe', listing, aMinuteAfter(now));
    }
  }
}

const aMinuteAfter = (now: Date): Date => new Date(now.getTime() + MINUTE_MS);
