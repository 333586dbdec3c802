import { Injectable, Logger } from '@nestjs/common';
import type Stripe from 'stripe';
import { isId } from '../../../../platform/ids';
import type { ProviderEvent, ProviderEventPage, ProviderEvents } from '../../domain/provider-event';
import { StripeClient } from './stripe-client';

/** Allowed difference between the time of a signature and our time, in both directions. */
const TOLERANCE_S = 300;
const SECOND_MS = 1_000;
const PAGE_SIZE = 100;
/** Ids that fit into the columns of `provider_event`. */
const REFERENCE = /^\w{1,40}$/;
const EVENT_ID = /^\w{1,255}$/;
/** Last second of the year 9999. */
const LAST_SECOND_S = 253_402_300_799;

const TYPES = [
  'payment_intent.processing',
  'payment_intent.requires_action',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'setup_intent.succeeded',
  'setup_intent.setup_failed',
  'setup_intent.canceled',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
] as const satisfies Stripe.EventListParams['types'];

@Injectable()
export class StripeWebhooks implements ProviderEvents {
  private readonly logger = new Logger('stripe');
  private isMissingDateLogged = false;

  constructor(private readonly client: StripeClient) {}

  parse(raw: Buffer, signature: string, at: Date): ProviderEvent | null {
    const signedAt = /(?:^|,)\s*t=(\d{1,12})(?:,|$)/.exec(signature)?.[1];
    // The SDK refuses signatures that are too old, but accepts signatures from the future.
    const aheadS = Number(signedAt ?? Number.NaN) - at.getTime() / SECOND_MS;
    if (!(aheadS <= TOLERANCE_S)) return null;
    const event = this.client.verifiedEvent(raw, signature, TOLERANCE_S, at);
    if (event?.livemode !== this.client.isLive) return null;
    return toProviderEvent(event);
  }

  async listSince(since: Date, after: string | null): Promise<ProviderEventPage | 'gone' | null> {
    const created = { gte: Math.floor(since.getTime() / SECOND_MS) };
    const start = after === null ? {} : { starting_after: after };
    const { answer, failure } = await this.client.request('events', (sdk) =>
      sdk.events.list({ created, types: [...TYPES], limit: PAGE_SIZE, ...start }),
    );
    if (failure !== null) return failure.code === 'resource_missing' ? 'gone' : null;
    const { data, has_more: hasMore, lastResponse } = answer;
    return {
      events: data.map(toProviderEvent),
      answeredAt: this.dateOf(lastResponse.headers['date']) ?? newestOf(data),
      next: hasMore ? (data.at(-1)?.id ?? null) : null,
    };
  }

  /** Returns the time that a `Date` header states. Returns null, and logs it once, if an answer has no such header. */
  private dateOf(header: string | undefined): Date | null {
    const date = new Date(header ?? '');
    if (!Number.isNaN(date.getTime())) return date;
    const message =
      'answers of Stripe have no Date header: its events are listed from the newest one read';
    if (!this.isMissingDateLogged) this.logger.warn(message);
    this.isMissingDateLogged = true;
    return null;
  }
}

/** An event whose form is not checked yet. The signature proves only who sent the event. */
type UncheckedEvent = Omit<Stripe.Event, 'data'> & {
  readonly data?: { readonly object?: unknown } | null;
};

function toProviderEvent({ id, type, created, data, account }: UncheckedEvent): ProviderEvent {
  const object = data?.object;
  const isStorable = typeof id === 'string' && EVENT_ID.test(id) && isStorableTime(created);
  // The key of this account cannot read objects of accounts that are connected to it.
  const isOfThisAccount = typeof account !== 'string';
  const isWanted = isStorable && isOfThisAccount && (TYPES as readonly string[]).includes(type);
  return {
    id,
    type,
    createdAt: new Date(created * SECOND_MS),
    subjectId: isWanted ? subjectIdOf(type, object) : null,
    objectId: referenceOf(object),
  };
}

function newestOf(newestFirst: readonly UncheckedEvent[]): Date | null {
  const event = newestFirst.find(({ created }) => isStorableTime(created));
  return event === undefined ? null : new Date(event.created * SECOND_MS);
}

function isStorableTime(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= 0 && seconds <= LAST_SECOND_S;
}

/** Returns Stripe's id of an object; null if the object has no id, or if the id cannot be stored. */
function referenceOf(object: unknown): string | null {
  if (typeof object !== 'object' || object === null || !('id' in object)) return null;
  const { id } = object;
  return typeof id === 'string' && REFERENCE.test(id) ? id : null;
}

/**
 * Returns our id of the payment, refund or setup, from the metadata of the object. For a dispute, or for a refund made
 * at Stripe, returns Stripe's id, because the metadata do not contain our id. Null for any other object.
 */
function subjectIdOf(type: string, object: unknown): string | null {
  if (type.startsWith('charge.dispute.')) return referenceOf(object);
  if (type.startsWith('refund.')) return ownIdOf(object, 'refund_id', 'ref') ?? referenceOf(object);
  return type.startsWith('setup_intent.')
    ? ownIdOf(object, 'setup_id', 'pms')
    : ownIdOf(object, 'payment_id', 'pay');
}

/** @param key metadata key that this service sets in such an object. Somebody at Stripe may have set other keys */
function ownIdOf(object: unknown, key: string, prefix: 'ref' | 'pay' | 'pms'): string | null {
  if (typeof object !== 'object' || object === null || !('metadata' in object)) return null;
  const { metadata } = object;
  if (typeof metadata !== 'object' || metadata === null) return null;
  const id = (metadata as Record<string, unknown>)[key];
  // Another service with the same Stripe account may use the same keys.
  return typeof id === 'string' && isId(prefix, id) ? id : null;
}
