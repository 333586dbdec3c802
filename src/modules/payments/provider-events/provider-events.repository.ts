import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { FREQUENT_ATTEMPTS, LATE_ATTEMPTS } from '../../../platform/processes';
import type { ProviderName } from '../domain/payment-provider';
import type { ProviderEvent } from '../domain/provider-event';
import type { ProviderCursorEntity } from './provider-cursor.entity';
import type { ProviderEventEntity } from './provider-event.entity';

const INSERT_IF_NEW = `
  INSERT INTO provider_event
    (id, provider, type, subject_id, object_id, created_at, received_at, due_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (id) DO NOTHING`;

const SUBJECT = `
  SELECT id, provider, type, subject_id AS "subjectId", object_id AS "objectId",
    received_at AS "receivedAt", attempts
  FROM provider_event WHERE id = $1`;

const MARK_PROCESSED = 'UPDATE provider_event SET due_at = NULL, leased_by = NULL WHERE id = $1';

const END_FREQUENT_ATTEMPTS = `
  UPDATE provider_event SET attempts = greatest(attempts, ${FREQUENT_ATTEMPTS - 1}) WHERE id = $1`;

const REMOVE_OLD = `
  DELETE FROM provider_event WHERE id IN (
    SELECT id FROM provider_event WHERE received_at < $1 AND due_at IS NULL ORDER BY received_at LIMIT $2)`;

const BEGIN_CURSOR = `
  INSERT INTO provider_cursor (provider, read_until, due_at)
  VALUES ($1, $2, $2) ON CONFLICT (provider) DO NOTHING`;

/**
 * Claims a cursor that is due at `$2`. Also claims a cursor that is due more than a minute after `$3` (the next due
 * time), because a clock that was ahead dated it. If the provider's time is not known, the listing goes back at least a
 * day, because our clock may have been ahead of the provider's.
 */
const CLAIM_CURSOR = `
  UPDATE provider_cursor SET due_at = $3, listing_at = coalesce(listing_at, $2)
  WHERE provider = $1 AND (due_at <= $2 OR due_at > $3::timestamptz + interval '1 minute')
  RETURNING coalesce(provider_read_until, least(read_until, listing_at - interval '1 day')) AS "storedUntil",
    listing_at AS "listingAt", provider_listing_at AS "providerListingAt", page_after AS "pageAfter"`;

const RECORD_PAGE = `
  UPDATE provider_cursor SET page_after = $3, provider_listing_at = $4, due_at = $5
  WHERE provider = $1 AND listing_at = $2`;

const END_LISTING = `
  UPDATE provider_cursor
  SET read_until = listing_at, provider_read_until = coalesce($3, provider_read_until),
    listing_at = NULL, page_after = NULL
  WHERE provider = $1 AND listing_at = $2`;

const RESTART_LISTING = `
  UPDATE provider_cursor SET listing_at = NULL, page_after = NULL, due_at = $3
  WHERE provider = $1 AND listing_at = $2`;

const MAKE_CURSOR_DUE = `
  UPDATE provider_cursor SET due_at = least(due_at, $2),
    read_until = CASE WHEN read_until > $2 THEN $2::timestamptz - interval '1 ms' ELSE read_until END,
    listing_at = CASE WHEN listing_at <= $2 THEN listing_at END,
    page_after = CASE WHEN listing_at <= $2 THEN page_after END
  WHERE provider = $1`;

/**
 * Makes events due whose due time is from a wrong clock. Before {@link FREQUENT_ATTEMPTS}, attempts are at most 150 s
 * apart, so a due time in more than 4 minutes must be wrong.
 */
const MAKE_MISDATED_DUE = `
  UPDATE provider_event SET due_at = $2
  WHERE provider = $1 AND leased_by IS NULL AND attempts < ${FREQUENT_ATTEMPTS}
    AND due_at > $2::timestamptz + interval '4 minutes'`;

/**
 * Makes failed events due and lowers their number of attempts. {@link HAS_READ} then waits until the provider has
 * answered about these events, for at most about 15 minutes. Leaves out events of stored payments, and of our refunds
 * and setups, because they report no missing charge. The limit `$3` counts all events with {@link LATE_ATTEMPTS} or
 * more attempts, also those that another process has just made due. Processes that start together thus choose the same
 * events.
 */
const TRY_WAITING_AGAIN = `
  UPDATE provider_event SET attempts = ${LATE_ATTEMPTS},
    due_at = CASE WHEN leased_by IS NULL THEN least(due_at, $2) ELSE due_at END
  WHERE attempts >= ${FREQUENT_ATTEMPTS} AND id IN (
    SELECT id FROM provider_event
    WHERE provider = $1 AND due_at IS NOT NULL
      AND attempts >= CASE WHEN $3::integer IS NULL THEN ${FREQUENT_ATTEMPTS} ELSE ${LATE_ATTEMPTS} END
      AND left(subject_id, 4) NOT IN ('ref_', 'pms_')
      AND NOT EXISTS (SELECT FROM payment WHERE payment.id = subject_id)
    ORDER BY received_at DESC, created_at DESC, id LIMIT $3 FOR UPDATE)`;

/**
 * Returns true if the provider's events until `$2` were listed and applied. Ignores events that were created and
 * received more than a minute after `$2`: no restore from a backup has lost the payments that these events report. The
 * minute allows for differences between clocks, and for charges that were in progress at `$2`.
 */
const HAS_READ = `
  SELECT NOT EXISTS (
    SELECT FROM provider_cursor AS cursor
    WHERE provider = $1 AND (
      read_until < $2 OR EXISTS (
        SELECT FROM provider_event AS event
        WHERE event.provider = $1 AND event.due_at IS NOT NULL AND attempts < ${FREQUENT_ATTEMPTS}
          AND least(event.received_at, event.created_at)
            <= least(cursor.read_until, $2::timestamptz + interval '1 minute'))))
    AS has_read`;

const IS_BEHIND = `
  SELECT EXISTS (
      SELECT FROM provider_cursor
      WHERE provider = $1 AND (read_until < $2 OR read_until > $4::timestamptz + interval '1 minute'))
    OR EXISTS (
      SELECT FROM provider_event
      WHERE provider = $1 AND due_at IS NOT NULL AND attempts < ${FREQUENT_ATTEMPTS}
        AND received_at - created_at > $3 * interval '1 ms')
    AS is_behind`;

export type KnownEvent = Pick<
  ProviderEventEntity,
  'id' | 'provider' | 'type' | 'subjectId' | 'objectId' | 'receivedAt' | 'attempts'
>;

/** Listing of a provider's events that is read page by page. */
export interface EventListing extends Pick<
  ProviderCursorEntity,
  'providerListingAt' | 'pageAfter'
> {
  /** All events that the provider has dated up to this time are stored. */
  readonly storedUntil: Date;
  readonly listingAt: Date;
}

/** Stores events of providers, and the cursor (the position in the provider's list of events). */
@Injectable()
export class ProviderEventsRepository {
  readonly table = 'provider_event';

  constructor(private readonly database: Database) {}

  /** Stores an event. Does nothing if the event is already stored, or is not about an object of this service. */
  async insertIfNew(provider: ProviderName, event: ProviderEvent, now: Date): Promise<void> {
    const { id, type, subjectId, objectId, createdAt } = event;
    if (subjectId === null) return;
    const parameters = [id, provider, type, subjectId, objectId, createdAt, now];
    await this.database.query(INSERT_IF_NEW, parameters);
  }

  async find(id: string): Promise<KnownEvent | null> {
    const [row] = await this.database.query<KnownEvent>(SUBJECT, [id]);
    return row ?? null;
  }

  async markProcessed(id: string): Promise<void> {
    await this.database.query(MARK_PROCESSED, [id]);
  }

  /**
   * Makes the running attempt of an event the last frequent one (see {@link FREQUENT_ATTEMPTS}). The event is then
   * tried only once an hour. Automatic charges do not wait for such events, except after {@link tryWaitingAgain}.
   */
  async endFrequentAttempts(id: string): Promise<void> {
    await this.database.query(END_FREQUENT_ATTEMPTS, [id]);
  }

  /**
   * Returns true if automatic charges must wait for events of a provider, in one of these cases:
   * - The last complete listing began more than `maxAgeMs` ago, or is dated by a clock that was ahead.
   * - An event is not processed, had fewer than {@link FREQUENT_ATTEMPTS} attempts, and arrived more than `maxAgeMs`
   *   after its creation.
   */
  async isBehind(provider: ProviderName, now: Date, maxAgeMs: number): Promise<boolean> {
    const parameters = [provider, new Date(now.getTime() - maxAgeMs), maxAgeMs, now];
    return (await this.database.queryValue<boolean>(IS_BEHIND, parameters)) ?? false;
  }

  /** Deletes processed events that were received before an instant. */
  async removeOld(before: Date, limit: number): Promise<void> {
    await this.database.query(REMOVE_OLD, [before, limit]);
  }

  /**
   * Claims the cursor of a provider if it is due. The first call creates the cursor. Returns the listing to read; null
   * if the cursor is not due.
   * @param nextAt time at which the cursor is due again
   */
  async claimCursor(provider: ProviderName, now: Date, nextAt: Date): Promise<EventListing | null> {
    await this.database.query(BEGIN_CURSOR, [provider, now]);
    const [row] = await this.database.query<EventListing>(CLAIM_CURSOR, [provider, now, nextAt]);
    return row ?? null;
  }

  /**
   * Records that a page of a listing is stored.
   * @param listing its `pageAfter` is the provider's id of the last event on the page
   * @param dueAt time at which the listing continues if the next page cannot be read now
   */
  async recordPage(
    provider: ProviderName,
    { listingAt, pageAfter, providerListingAt }: EventListing,
    dueAt: Date,
  ): Promise<void> {
    const parameters = [provider, listingAt, pageAfter, providerListingAt, dueAt];
    await this.database.query(RECORD_PAGE, parameters);
  }

  /** Records that all events up to the start of a listing are stored. */
  async endListing(
    provider: ProviderName,
    { listingAt, providerListingAt }: EventListing,
  ): Promise<void> {
    await this.database.query(END_LISTING, [provider, listingAt, providerListingAt]);
  }

  /** Discards the progress of a listing. A new listing of the events starts now, at the first page. */
  async restartListing(
    provider: ProviderName,
    { listingAt }: EventListing,
    now: Date,
  ): Promise<void> {
    await this.database.query(RESTART_LISTING, [provider, listingAt, now]);
  }

  /**
   * Makes the next listing due at once. Also corrects times after `now`, which a clock that was ahead has stored:
   * - A complete listing that began after `now` does not count in {@link hasReadSince}.
   * - An unfinished listing that began after `now` starts again.
   * - Events that would be tried too late become due.
   */
  async makeCursorDue(provider: ProviderName, now: Date): Promise<void> {
    await this.database.query(MAKE_CURSOR_DUE, [provider, now]);
    await this.database.query(MAKE_MISDATED_DUE, [provider, now]);
  }

  /**
   * Makes events due that are tried only once an hour and may report a charge that is missing here. Automatic charges
   * wait until the provider has answered about these events.
   * @param limit only events among the latest `limit` events with {@link LATE_ATTEMPTS} or more attempts; null: all
   */
  async tryWaitingAgain(provider: ProviderName, now: Date, limit: number | null): Promise<void> {
    await this.database.query(TRY_WAITING_AGAIN, [provider, now, limit]);
  }

  /**
   * Returns true if a complete listing of the provider's events began at `since` or later, and the events before its
   * start are processed. Does not wait for two kinds of events: those from more than a minute after `since`, and those
   * with {@link FREQUENT_ATTEMPTS} or more attempts. Also returns true if the events were never listed.
   */
  async hasReadSince(provider: ProviderName, since: Date): Promise<boolean> {
    return (await this.database.queryValue<boolean>(HAS_READ, [provider, since])) ?? false;
  }
}
