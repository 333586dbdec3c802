import { Injectable } from '@nestjs/common';
import { hasOtherSubscription, type WebhookEndpoint } from '../domain/webhook-endpoint';
import { hasFailedTooLong } from './domain/retry-schedule';
import { DiscardsRepository } from './discards.repository';
import { HeadsRepository } from './heads.repository';
import { ReceiversRepository } from './receivers.repository';

/**
 * Adapts the pending deliveries of an endpoint to its new settings. The methods must be called in the transaction that
 * changes the settings.
 */
@Injectable()
export class EndpointQueue {
  constructor(
    private readonly discards: DiscardsRepository,
    private readonly heads: HeadsRepository,
    private readonly receivers: ReceiversRepository,
  ) {}

  /**
   * Adapts pending deliveries to a change of settings:
   * - If `ordered` changed, starts or ends ordered delivery.
   * - If the URL changed or the endpoint was enabled again, forgets earlier failures.
   * - If `events` or `isActive` changed, stores the former subscription for events recorded before the change.
   * @param changeId id of the event that reports the change
   */
  async applySettings(
    before: WebhookEndpoint,
    after: WebhookEndpoint,
    changeId: string,
  ): Promise<void> {
    if (hasOtherSubscription(before, after)) {
      const events = before.isActive ? before.events : [];
      await this.receivers.keepSubscription(after.id, events, changeId, after.updatedAt);
    }
    if (after.ordered && !before.ordered) await this.heads.build(after.id);
    if (before.ordered && !after.ordered) await this.heads.remove(after.id);
    if (after.url !== before.url || (after.isActive && !before.isActive)) {
      await this.receivers.resetHealth(after.id);
    }
  }

  /**
   * Discards the pending deliveries of an endpoint that was deleted or disabled: the first portion at once, the rest in
   * the background. Events for which no deliveries were created yet are not sent to the endpoint either.
   */
  async discard(endpointId: string, now: Date): Promise<void> {
    await this.receivers.forgetSubscriptions(endpointId);
    await this.discards.begin(endpointId, now);
  }

  /** Returns true if all attempts at the endpoint have failed for so long that it is disabled. */
  async isFailing(endpointId: string, now: Date): Promise<boolean> {
    return hasFailedTooLong(await this.receivers.failingSince(endpointId), now);
  }

  /** Returns true if the delivery belongs to the deliveries of the endpoint that are being discarded. */
  isDiscarding(endpointId: string, deliveryId: string): Promise<boolean> {
    return this.discards.covers(endpointId, deliveryId);
  }
}
