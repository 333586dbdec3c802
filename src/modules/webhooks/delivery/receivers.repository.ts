import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { firstIdAt } from '../../../platform/ids';

/** Longest time for which a transaction that records an event is expected to stay open. */
const LONGEST_TRANSACTION_MS = 24 * 3_600_000;

/** Columns of an endpoint that deliveries need. */
export interface Receiver {
  readonly id: string;
  readonly ordered: boolean;
  /** Time of the first failure since the last success; null: no failure since then. */
  readonly failingSince: Date | null;
}

/** Names or patterns of the events that an endpoint received between two changes of its settings. */
export interface EventSubscription {
  readonly endpointId: string;
  readonly events: readonly string[];
  /** The subscription applies to events with this id and higher ids; null: there is no lower bound. */
  readonly since: string | null;
  /** The subscription applies to events with lower ids; null: there is no upper bound. */
  readonly until: string | null;
}

/** SQL condition: deliveries are sent to the endpoint (alias `endpoint`). */
export const IS_RECEIVING =
  'endpoint.is_active AND endpoint.deleted_at IS NULL AND endpoint.discard_to IS NULL';

const ACTIVE = `
  SELECT endpoint.id, endpoint.ordered, failure.since AS "failingSince"
  FROM webhook_endpoint AS endpoint LEFT JOIN webhook_failure AS failure ON failure.endpoint_id = endpoint.id
  WHERE ${IS_RECEIVING} ORDER BY endpoint.id`;

const SUBSCRIPTIONS = `
  SELECT endpoint_id AS "endpointId", events, until,
    lag(until) OVER (PARTITION BY endpoint_id ORDER BY until) AS since
  FROM (
    SELECT endpoint.id AS endpoint_id, former.events, until_event_id AS until
    FROM webhook_endpoint AS endpoint JOIN webhook_former_subscription AS former ON former.endpoint_id = endpoint.id
    WHERE deleted_at IS NULL AND until_event_id > $1
    UNION ALL
    SELECT id, events, NULL FROM webhook_endpoint WHERE deleted_at IS NULL AND is_active) AS subscription`;

/**
 * Stores a former subscription, which ends at the event `$2`. Stored subscriptions that end at higher ids come from a
 * process with a faster clock. The first of them applied until now, so it is stored instead, with the end `$2`. All of
 * them are then deleted. The others applied only to events with ids from the faster clock, and these events now follow
 * the new settings.
 */
const KEEP_SUBSCRIPTION = `
  WITH later AS (
    DELETE FROM webhook_former_subscription WHERE endpoint_id = $1 AND until_event_id > $2
    RETURNING until_event_id, events)
  INSERT INTO webhook_former_subscription (endpoint_id, until_event_id, events)
  SELECT $1, $2, coalesce((SELECT events FROM later ORDER BY until_event_id LIMIT 1), $3)`;

const FORGET_SUBSCRIPTIONS = `
  DELETE FROM webhook_former_subscription
  WHERE endpoint_id = $1 AND until_event_id < least($2, (SELECT min(event_id) FROM event_dispatch))`;

const FORGET_ALL_SUBSCRIPTIONS = 'DELETE FROM webhook_former_subscription WHERE endpoint_id = $1';

const FAILING_SINCE = 'SELECT since FROM webhook_failure WHERE endpoint_id = $1';

const RESET_HEALTH = 'DELETE FROM webhook_failure WHERE endpoint_id = $1';

@Injectable()
export class ReceiversRepository {
  constructor(private readonly database: Database) {}

  /** Returns active endpoints, except those whose former deliveries are still being discarded. */
  listActive(): Promise<readonly Receiver[]> {
    return this.database.query<Receiver>(ACTIVE);
  }

  /**
   * Returns the present subscriptions, and the former ones that apply to the event `firstEventId` or later events.
   * Reads both with one query, so that both are from the same instant.
   */
  listSubscriptions(firstEventId: string): Promise<readonly EventSubscription[]> {
    return this.database.query<EventSubscription>(SUBSCRIPTIONS, [firstEventId]);
  }

  /**
   * Stores the subscription that an endpoint had before a change. This subscription applies to events that were
   * recorded before the change and are not dispatched yet. Deletes older subscriptions, except those that may apply to
   * events in the queue or of open transactions.
   * @param events empty if the endpoint was inactive
   * @param untilEventId id of the event that reports the change
   */
  async keepSubscription(
    endpointId: string,
    events: readonly string[],
    untilEventId: string,
    now: Date,
  ): Promise<void> {
    const openSince = new Date(now.getTime() - LONGEST_TRANSACTION_MS);
    await this.database.query(FORGET_SUBSCRIPTIONS, [endpointId, firstIdAt('evt', openSince)]);
    await this.database.query(KEEP_SUBSCRIPTION, [endpointId, untilEventId, events]);
  }

  /**
   * Deletes the former subscriptions of an endpoint. Undispatched events from before its last change are then not sent.
   */
  async forgetSubscriptions(endpointId: string): Promise<void> {
    await this.database.query(FORGET_ALL_SUBSCRIPTIONS, [endpointId]);
  }

  failingSince(id: string): Promise<Date | null> {
    return this.database.queryValue<Date>(FAILING_SINCE, [id]);
  }

  /** Deletes the time of the first failure, so that earlier failures no longer count. */
  async resetHealth(id: string): Promise<void> {
    await this.database.query(RESET_HEALTH, [id]);
  }
}
