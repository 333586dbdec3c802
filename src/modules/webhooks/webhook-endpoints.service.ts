import { Injectable, type OnModuleInit } from '@nestjs/common';
import { changedAt, nextVersion } from '../../core/next-version';
import { isProblem, preconditionFailed, raise } from '../../platform/errors';
import { Clock } from '../../platform/clock';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  revise,
  type VersionCondition,
} from '../../platform/database';
import { Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { OutboundHttp } from '../../platform/outbound';
import { allEvents, Outbox } from '../../platform/outbox';
import { unknownNames } from './domain/event-names';
import {
  type DisabledReason,
  type EndpointChange,
  type EndpointTerms,
  MAX_ENDPOINTS,
  type WebhookEndpoint,
} from './domain/webhook-endpoint';
import type { ClaimedDelivery } from './delivery/domain/delivery';
import { EndpointQueue } from './delivery/endpoint-queue';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';
import { type RotatedSecret, WebhookSecretsService } from './webhook-secrets.service';
import {
  tooManyWebhookEndpoints,
  webhookEndpointNotFound,
  webhookUrlNotAllowed,
} from './webhooks.errors';
import {
  createdEndpointAnswer,
  webhookEndpointCreated,
  webhookEndpointDeleted,
  webhookEndpointDisabled,
  webhookEndpointUpdated,
} from './webhooks.events';

@Injectable()
export class WebhookEndpointsService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly secrets: WebhookSecretsService,
    private readonly queue: EndpointQueue,
    private readonly outbox: Outbox,
    private readonly http: OutboundHttp,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.idempotency.waitBeforeReplay('whe', () => this.outbox.waitForUncommittedEvents());
  }

  /**
   * Registers an endpoint. Earlier events are not sent to it, so the client must read the present state from the API.
   * To make that state complete, waits up to ten seconds until transactions with earlier events have ended.
   * @throws {ProblemError} `webhook_url_not_allowed`, `too_many_webhook_endpoints`
   */
  async create(terms: EndpointTerms): Promise<WebhookEndpoint> {
    await this.requireAllowed(terms.url);
    const now = this.clock.now();
    const endpoint: WebhookEndpoint = {
      ...terms,
      id: newId('whe'),
      version: 1,
      isActive: true,
      ordered: false,
      disabledReason: null,
      deletedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      await this.idempotency.claimFor(endpoint.id);
      if ((await this.endpoints.countForInsert()) >= MAX_ENDPOINTS) throw tooManyWebhookEndpoints();
      await this.endpoints.insert(endpoint);
      await this.secrets.create(endpoint.id, now);
      await this.outbox.record(webhookEndpointCreated, { after: endpoint, occurredAt: now });
      const answer = createdEndpointAnswer(endpoint, this.unknownEvents(endpoint.events));
      await this.idempotency.completeFor(endpoint.id, answer);
    });
    await this.outbox.waitForUncommittedEvents();
    return endpoint;
  }

  unknownEvents(names: readonly string[]): readonly string[] {
    return unknownNames(
      names,
      allEvents().map(({ type }) => type),
    );
  }

  /** @throws {ProblemError} `webhook_endpoint_not_found` */
  async get(id: string): Promise<WebhookEndpoint> {
    return (await this.endpoints.find(id)) ?? raise(webhookEndpointNotFound(id));
  }

  list(request: PageRequest): Promise<Page<WebhookEndpoint>> {
    return this.endpoints.page(request);
  }

  /**
   * Changes an endpoint and merges its metadata. An update that changes nothing records no event. A change of `events`
   * or `is_active` applies only to events that are recorded after the change.
   *
   * If `change` has one of these two fields and the endpoint is then active, waits for transactions with earlier
   * events, as {@link create} does. Also waits if nothing changes, and before throwing `precondition_failed`, because
   * an earlier request with the same change may have ended without an answer.
   * @throws {ProblemError} `webhook_endpoint_not_found`, `webhook_url_not_allowed`, `precondition_failed`,
   *   `metadata_too_large`
   * @throws {OutcomeUnknownError} if the database fails during the wait
   */
  async update(
    id: string,
    change: EndpointChange,
    expected: VersionCondition,
  ): Promise<WebhookEndpoint> {
    if (change.url !== undefined && change.url !== (await this.get(id)).url) {
      await this.requireAllowed(change.url);
    }
    const waits = (change.events ?? change.isActive) !== undefined;
    const after = await this.change(id, change, expected).catch(async (error: unknown) => {
      if (waits && isProblem(error, preconditionFailed))
        await this.outbox.waitForUncommittedEvents();
      throw error;
    });
    if (waits && after.isActive) await this.outbox.waitForUncommittedEvents();
    return after;
  }

  private change(
    id: string,
    change: EndpointChange,
    expected: VersionCondition,
  ): Promise<WebhookEndpoint> {
    return this.database.transaction(async () => {
      // No delivery may be created while `ordered` changes, because only ordered endpoints have rows in `webhook_head`.
      const before =
        change.ordered === undefined ? await this.lock(id) : await this.lockExclusive(id);
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = revise(
        before,
        { ...change, disabledReason: (change.isActive ?? before.isActive) ? null : undefined },
        now,
      );
      if (after === before) return after;
      await this.endpoints.update(after);
      const event = await this.outbox.recordChange(webhookEndpointUpdated, { after, before }, now);
      await this.queue.applySettings(before, after, event.id);
      return after;
    });
  }

  /**
   * Deletes the secrets of an endpoint, discards its pending deliveries and marks it as deleted. The row stays, because
   * deliveries refer to it.
   * @throws {ProblemError} `webhook_endpoint_not_found`, `precondition_failed`
   */
  delete(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const before = await this.lockExclusive(id);
      assertVersion(expected, before);
      const now = changedAt(this.clock.now(), before);
      await this.endpoints.update(nextVersion(before, now, { deletedAt: now }));
      await this.secrets.deleteAll(id);
      await this.queue.discard(id, now);
      await this.outbox.record(webhookEndpointDeleted, { after: before, occurredAt: now });
    });
  }

  /** @throws {ProblemError} `webhook_endpoint_not_found` */
  async secretOf(id: string): Promise<string> {
    const current = await this.secrets.currentSecret(id, this.clock.now());
    return current ?? raise(webhookEndpointNotFound(id));
  }

  /**
   * Creates a new secret. For 24 hours, deliveries are also signed with the previous secret.
   * @throws {ProblemError} `webhook_endpoint_not_found`, `precondition_failed`, `too_many_webhook_secrets`
   */
  rotateSecret(id: string, expected: VersionCondition): Promise<RotatedSecret> {
    return this.database.transaction(async () => {
      const before = await this.lock(id);
      assertVersion(expected, before);
      const now = this.clock.now();
      const rotated = await this.secrets.rotate(id, now);
      const after = nextVersion(before, now);
      await this.endpoints.update(after);
      await this.outbox.recordChange(webhookEndpointUpdated, { after, before }, now);
      return rotated;
    });
  }

  /**
   * Disables an endpoint because of an attempt at a delivery. With `gone`, also discards the pending deliveries, this
   * one included. Does nothing in these cases:
   * - The endpoint is inactive or deleted, or its URL has changed since the attempt.
   * - The delivery is being discarded. The endpoint was then disabled and enabled again since the attempt.
   * - The reason is `failing`, but the endpoint has not failed for 120 hours. Another attempt has succeeded, or the
   *   endpoint was enabled again since the claim.
   */
  disable(
    { id: deliveryId, endpointId: id, url }: Pick<ClaimedDelivery, 'id' | 'endpointId' | 'url'>,
    reason: DisabledReason,
  ): Promise<void> {
    return this.database.transaction(async () => {
      const before = await this.endpoints.lockExclusive(id);
      if (before?.isActive !== true || before.url !== url) return;
      if (await this.queue.isDiscarding(id, deliveryId)) return;
      const now = this.clock.now();
      if (reason === 'failing' && !(await this.queue.isFailing(id, now))) return;
      const after: WebhookEndpoint = nextVersion(before, now, {
        isActive: false,
        disabledReason: reason,
      });
      await this.endpoints.update(after);
      const event = await this.outbox.recordChange(webhookEndpointDisabled, { after, before }, now);
      if (reason === 'gone') await this.queue.discard(id, now);
      else await this.queue.applySettings(before, after, event.id);
    });
  }

  /**
   * Locks and returns the endpoint. Until the transaction ends, deliveries to the endpoint can still be created.
   * @throws {ProblemError} `webhook_endpoint_not_found`
   */
  async lock(id: string): Promise<WebhookEndpoint> {
    return (await this.endpoints.lock(id)) ?? raise(webhookEndpointNotFound(id));
  }

  private async lockExclusive(id: string): Promise<WebhookEndpoint> {
    return (await this.endpoints.lockExclusive(id)) ?? raise(webhookEndpointNotFound(id));
  }

  /**
   * Refuses a URL whose target is not allowed. Must not be called in a transaction, because it may wait for DNS.
   * @throws {ProblemError} `webhook_url_not_allowed`
   */
  private async requireAllowed(url: string): Promise<void> {
    const fault = await this.http.checkTarget(url);
    if (fault !== null) throw webhookUrlNotAllowed(fault);
  }
}
