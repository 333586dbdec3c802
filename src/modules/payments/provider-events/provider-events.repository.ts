import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import type { Lease } from '../domain/payment';
import type { ProviderName } from '../domain/payment-provider';
import type { ProviderEvent } from '../domain/provider-event';

const KEEP = `
  INSERT INTO provider_event (id, provider, type, subject_id, created_at, received_at, due_at)
  VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (id) DO NOTHING`;

/**
 * An event whose object cannot be applied so often, in about 50 minutes, is tried once an hour from then on, and no longer
 * keeps automatic charges waiting.
 */
const FREQUENT_ATTEMPTS = 20;

const CLAIM_DUE = `
  UPDATE provider_event
  SET due_at = CASE WHEN attempts + 1 < ${FREQUENT_ATTEMPTS} THEN $2::timestamptz
        ELSE $1::timestamptz + interval '1 hour' END,
      leased_by = $4, attempts = attempts + 1
  WHERE id IN (
    SELECT id FROM provider_event WHERE due_at <= $1
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
  RETURNING id`;

const SUBJECT =
  'SELECT provider, type, subject_id AS "subjectId" FROM provider_event WHERE id = $1';

const DONE = 'UPDATE provider_event SET due_at = NULL, leased_by = NULL WHERE id = $1';

const REMOVE_OLD = `
  DELETE FROM provider_event WHERE id IN (
    SELECT id FROM provider_event WHERE received_at < $1 ORDER BY received_at LIMIT $2)`;

const BEGIN_CURSOR = `
  INSERT INTO provider_cursor (provider, read_until, due_at) VALUES ($1, $2, $2)
  ON CONFLICT (provider) DO NOTHING`;

const CLAIM_CURSOR = `
  UPDATE provider_cursor SET due_at = $3 WHERE provider = $1 AND due_at <= $2 RETURNING read_until`;

const MOVE_CURSOR = `
  UPDATE provider_cursor SET read_until = greatest(read_until, $2) WHERE provider = $1`;

/** Holds while events were not read for some time, or events that were read late wait for their work. */
const IS_BEHIND = `
  SELECT EXISTS (SELECT FROM provider_cursor WHERE provider = $1 AND read_until < $2)
    OR EXISTS (
      SELECT FROM provider_event
      WHERE provider = $1 AND due_at IS NOT NULL AND attempts < ${FREQUENT_ATTEMPTS}
        AND received_at - created_at > $3 * interval '1 ms')
    AS is_behind`;

/** Object that a stored event is about. */
export interface KnownEvent {
  readonly provider: ProviderName;
  readonly type: string;
  /** Our id of the payment or refund, or the provider's of the dispute. */
  readonly subjectId: string;
}

/** Notifications of providers, and the position in the lists of them. */
@Injectable()
export class ProviderEventsRepository {
  readonly table = 'provider_event';

  constructor(private readonly database: Database) {}

  /** Stores an event about one of our objects, unless it is known. */
  async keep(provider: ProviderName, event: ProviderEvent, now: Date): Promise<void> {
    const { id, type, subjectId, createdAt } = event;
    if (subjectId === null) return;
    await this.database.query(KEEP, [id, provider, type, subjectId, createdAt, now]);
  }

  /** Ids of events to work on, leased to the caller. */
  async claimDue(now: Date, lease: Lease, most: number): Promise<readonly string[]> {
    const parameters = [now, lease.endsAt, most, lease.owner];
    const rows = await this.database.query<{ id: string }>(CLAIM_DUE, parameters);
    return rows.map(({ id }) => id);
  }

  /** Returns what a stored event is about, or null. */
  async find(id: string): Promise<KnownEvent | null> {
    const [row] = await this.database.query<KnownEvent>(SUBJECT, [id]);
    return row ?? null;
  }

  async finish(id: string): Promise<void> {
    await this.database.query(DONE, [id]);
  }

  /**
   * Returns true if what happened at a provider may be unknown here: its events were last read longer ago than the given age,
   * or events that were read so late have not been applied. False if they were never read.
   */
  async isBehind(provider: ProviderName, now: Date, maxAgeMs: number): Promise<boolean> {
    const parameters = [provider, new Date(now.getTime() - maxAgeMs), maxAgeMs];
    const [row] = await this.database.query<{ is_behind: boolean }>(IS_BEHIND, parameters);
    return row?.is_behind ?? false;
  }

  /** Deletes up to `most` events that were received before an instant. */
  async removeOld(before: Date, most: number): Promise<void> {
    await this.database.query(REMOVE_OLD, [before, most]);
  }

  /** Claims the cursor if it is due. Returns the instant until which all events are stored, or null. */
  async claimCursor(provider: ProviderName, now: Date, nextAt: Date): Promise<Date | null> {
    await this.database.query(BEGIN_CURSOR, [provider, now]);
    const [row] = await this.database.query<{ read_until: Date }>(CLAIM_CURSOR, [
      provider,
      now,
      nextAt,
    ]);
    return row?.read_until ?? null;
  }

  async moveCursor(provider: ProviderName, readUntil: Date): Promise<void> {
    await this.database.query(MOVE_CURSOR, [provider, readUntil]);
  }
}
