import { randomInt } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import { Clock } from '../../../platform/clock';
import { OutboundError, OutboundHttp } from '../../../platform/outbound';
import type { RecordedEvent } from '../../../platform/outbox';
import { markFailed, traced } from '../../../platform/tracing';
import { WebhookEndpointsService } from '../webhook-endpoints.service';
import { classifyReply, isGone, type Reply } from './domain/attempt-outcome';
import type { Attempt, ClaimedDelivery } from './domain/delivery';
import { hasFailedTooLong } from './domain/retry-schedule';
import { notificationBody, type ReadableEvent } from './notification';
import type { Receiver } from './receivers.repository';
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
    private readonly endpoints: WebhookEndpointsService,
    private readonly results: ResultWriter,
    private readonly http: OutboundHttp,
  ) {}

  /**
   * Makes one attempt at a claimed delivery and writes the result. Disables the endpoint if it answered 410, or if all
   * its attempts have failed for 120 hours. If disabling fails, logs the error. The next such result then disables the
   * endpoint.
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
    const outcome = classifyReply(reply, delivery.attempts + 1, this.clock.now(), chance);
    const counted = await this.results.write({
      delivery,
      attempt,
      isSent,
      status: outcome.status,
      dueAt: outcome.status === 'pending' ? outcome.dueAt : null,
    });
    if (!counted || !isSent || outcome.status === 'succeeded') return;
    await this.disableIfGoneOrFailing(delivery, receiver, reply).catch((error: unknown) => {
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

  private async disableIfGoneOrFailing(
    delivery: ClaimedDelivery,
    { failingSince }: Receiver,
    reply: Reply,
  ): Promise<void> {
    if (isGone(reply)) await this.endpoints.disable(delivery, 'gone');
    else if (hasFailedTooLong(failingSince, this.clock.now())) {
      await this.endpoints.disable(delivery, 'failing');
    }
  }
}

function isReadable(event: RecordedEvent): event is ReadableEvent {
  return event.data !== null;
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
