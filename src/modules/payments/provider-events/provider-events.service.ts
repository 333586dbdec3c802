import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs } from '../../../platform/jobs';
import { webhookSignatureInvalid } from '../payments.errors';
import { ProviderGateway } from '../providers/provider-gateway';
import { StripeWebhooks } from '../providers/stripe/stripe-webhooks';
import { ProviderEventsRepository } from './provider-events.repository';

/** Name of the due work that reads the objects of stored events. */
export const PROVIDER_EVENTS_WORK = 'due-provider-events';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Events can be listed a little later than they are made, and the provider has another clock. */
const OVERLAP_MS = 5 * MINUTE_MS;
/** Longer than a provider lists events, so that a listed event is not new again. */
const KEPT_MS = 40 * DAY_MS;
const REMOVED_AT_ONCE = 1_000;

/** Stores notifications of Stripe: those sent to the webhook, and those missed there. */
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
   * Stores a notification, once.
   * @throws {ProblemError} `payment_provider_not_enabled`, `webhook_signature_invalid`
   */
  async receive(raw: Buffer, signature: string): Promise<void> {
    this.gateway.requireEnabled('stripe');
    const now = this.clock.now();
    const event = this.webhooks.parse(raw, signature, now);
    if (event === null) throw webhookSignatureInvalid();
    await this.events.keep('stripe', event, now);
    this.jobs.wake(PROVIDER_EVENTS_WORK);
  }

  /** Lists the events since the last time, once a minute in all processes together, and stores the missed ones. */
  async listMissed(): Promise<void> {
    if (!this.gateway.isEnabled('stripe')) return;
    const now = this.clock.now();
    const next = new Date(now.getTime() + MINUTE_MS);
    const readUntil = await this.events.claimCursor('stripe', now, next);
    if (readUntil === null) return;
    const listed = await this.webhooks.listSince(new Date(readUntil.getTime() - OVERLAP_MS));
    if (listed === null) {
      this.logger.warn({ read_until: readUntil }, 'Stripe did not list its events');
      return;
    }
    for (const event of listed) await this.events.keep('stripe', event, now);
    await this.events.moveCursor('stripe', now);
    await this.events.removeOld(new Date(now.getTime() - KEPT_MS), REMOVED_AT_ONCE);
    this.jobs.wake(PROVIDER_EVENTS_WORK);
  }
}
