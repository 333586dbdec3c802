import { randomInt } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import { Clock } from '../../../platform/clock';
import { OutboundError, OutboundHttp } from '../../../platform/outbound';
import type { RecordedEvent } from '../../../platform/outbox';
import { markFailed, traced } from '../../../platform/tracing';
import { WebhookEndpointsService } from '../webhook-endpoints.service';
import { type AttemptOutcome, classifyReply, isGone, type Reply } from './domain/attempt-outcome';
import type { Attempt, ClaimedDelivery } from './domain/delivery';
import { FAILING_LIMIT_MS } from './domain/retry-schedule';
import { notificationBody, type ReadableEvent } from './notification';
import { type Receiver, ReceiversRepository } from './receivers.repository';
import { ResultWriter } from './result-writer';
import { signatureHeader } from './signature';

/** Time limit of an attempt: name resolution, connection, request and response together. */
const DEADLINE_MS = 15_000;
/** Largest number of bytes that are stored of a response body. */
const STORED_BYTES = 20_000;

const ATTEMPT_SPAN = { name: 'webhook attempt', kind: 'client', isRoot: true } as const;

/** Error of an attempt whose event has no readable data. The attempt is repeated, because the data may be restored. */
const DAMAGED = 'event_damaged: the data of the event is missing or damaged in the database.';

const NO_REPLY: Reply = { statusCode: null };

interface Ended {
  readonly attempt: Attempt;
  readonly reply: Reply;
  readonly isSent: boolean;
}

@Injectable()
export class DeliverySender {
  private readonly logger = new Logger('webhook-deliveries');

  constructor(
    private readonly clock: Clock,
    private readonly receivers: ReceiversRepository,
    private readonly endpoints: WebhookEndpointsService,
    private readonly results: ResultWriter,
    private readonly http: OutboundHttp,
  ) {}

  /**
   * Makes one attempt at a claimed delivery and writes the result. Disables the endpoint if it answered 410, or if all
   * its attempts have failed for {@link FAILING_LIMIT_MS}. If disabling fails, logs the error; the next such result
   * disables the endpoint.
   */
  async deliver(
    delivery: ClaimedDelivery,
    receiver: Receiver,
    event: RecordedEvent,
    secrets: readonly string[],
  ): Promise<void> {
    const { attempt, reply, isSent } = await traced(ATTEMPT_SPAN, async (span) => {
      const ended = isReadable(event)
        ? await this.send(delivery.url, event, secrets)
        : { ...withoutReply(this.clock.now(), DAMAGED, 0), isSent: false };
      if (span !== null) describe(span, delivery, ended.attempt);
      return ended;
    });
    const chance = randomInt(1_000_001) / 1_000_000;
    const current = (await this.isOfFormerUrl(delivery, reply)) ? NO_REPLY : reply;
    const outcome = classifyReply(current, delivery.attempts + 1, this.clock.now(), chance);
    const counted = await this.results.write({
      delivery,
      attempt,
      isSent,
      status: outcome.status,
      dueAt: outcome.status === 'pending' ? outcome.dueAt : null,
    });
    if (!counted || !isSent) return;
    await this.recordHealth(delivery, receiver, outcome).catch((error: unknown) => {
      const ids = { endpoint_id: receiver.id, delivery_id: delivery.id };
      this.logger.error({ err: error, ...ids }, 'cannot disable a webhook endpoint');
    });
  }

  private async send(
    url: string,
    event: ReadableEvent,
    secrets: readonly string[],
  ): Promise<Ended> {
    const startedAt = this.clock.now();
    const timestamp = Math.trunc(startedAt.getTime() / 1_000);
    const body = notificationBody(event);
    const headers = {
      'webhook-id': event.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureHeader({ id: event.id, timestamp, body }, secrets),
    };
    try {
      const answer = await this.http.post({
        url,
        headers,
        body,
        deadlineMs: DEADLINE_MS,
        keepBytes: STORED_BYTES,
      });
      const { status: statusCode, retryAfter, durationMs, bodyStart: responseStart } = answer;
      return {
        attempt: { startedAt, durationMs, statusCode, error: null, responseStart },
        reply: { statusCode, retryAfter },
        isSent: true,
      };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return withoutReply(startedAt, `${error.reason}: ${error.message}`, error.durationMs);
    }
  }

  /**
   * Returns true if the reply is 410 and the URL of the endpoint was changed while the request was in flight. Such a
   * reply says nothing about the new URL, which the next attempt uses.
   */
  private async isOfFormerUrl(
    { endpointId, url }: ClaimedDelivery,
    reply: Reply,
  ): Promise<boolean> {
    return isGone(reply) && !(await this.receivers.hasUrl(endpointId, url));
  }

  private async recordHealth(
    delivery: ClaimedDelivery,
    { failingSince }: Receiver,
    outcome: AttemptOutcome,
  ): Promise<void> {
    if (outcome.status === 'succeeded') return;
    if (outcome.status === 'discarded') {
      await this.endpoints.disable(delivery, 'gone');
      return;
    }
    const now = this.clock.now();
    if (!isTooLong(failingSince, now)) return;
    // Reads the time of the first failure again, because another attempt may have succeeded since the claim.
    if (isTooLong(await this.receivers.failingSince(delivery.endpointId), now)) {
      await this.endpoints.disable(delivery, 'failing');
    }
  }
}

function isReadable(event: RecordedEvent): event is ReadableEvent {
  return event.data !== null;
}

function isTooLong(since: Date | null, now: Date): boolean {
  return since !== null && now.getTime() - since.getTime() >= FAILING_LIMIT_MS;
}

/** Adds attributes to the trace span. Of the URL, only the host is added, because the rest may contain a secret. */
function describe(span: Span, delivery: ClaimedDelivery, { statusCode, error }: Attempt): void {
  span.setAttributes({
    'server.address': new URL(delivery.url).hostname,
    'webhook.endpoint_id': delivery.endpointId,
    'webhook.event_id': delivery.eventId,
    'webhook.attempt': delivery.attempts + 1,
  });
  if (statusCode !== null) span.setAttribute('http.response.status_code', statusCode);
  if (statusCode === null) markFailed(span, error?.split(':', 1)[0] ?? 'failed');
  else if (statusCode >= 300) markFailed(span, String(statusCode));
}

function withoutReply(startedAt: Date, why: string, durationMs: number): Ended {
  const error = why.slice(0, 300);
  return {
    attempt: { startedAt, durationMs, statusCode: null, error, responseStart: null },
    reply: NO_REPLY,
    isSent: true,
  };
}
