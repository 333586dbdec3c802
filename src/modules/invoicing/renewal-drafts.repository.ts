import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { isWaiting, type WaitingDraft } from './domain/grace';
import { InvoicesRepository } from './invoices.repository';

/** A draft that is due, and what is locked before it. */
export interface DueDraft {
  readonly id: string;
  readonly subscriptionId: string;
}

/** Real time leaves alone what lives on a test clock. */
const CLAIM_DUE = `
  WITH claimed AS (
    UPDATE invoice SET lease_ends_at = $2 WHERE id IN (
      SELECT id FROM invoice
      WHERE finalizes_at <= $1 AND test_clock_id IS NULL
        AND (lease_ends_at IS NULL OR lease_ends_at <= $1)
      ORDER BY finalizes_at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
    RETURNING id, subscription_id, finalizes_at)
  SELECT id, subscription_id AS "subscriptionId" FROM claimed ORDER BY finalizes_at, id`;

const DUE_ON_TEST_CLOCK = `
  SELECT id, subscription_id AS "subscriptionId" FROM invoice
  WHERE test_clock_id = $1 AND finalizes_at <= $2
    AND (lease_ends_at IS NULL OR lease_ends_at <= $2)
  ORDER BY finalizes_at, id LIMIT $3`;

/** On a test clock only postponed work has a lease; it fell due before all other work that is left. */
const NEXT_ON_TEST_CLOCK = `
  WITH planned AS (
    SELECT min(finalizes_at) AS due_at FROM invoice
    WHERE test_clock_id = $1 AND finalizes_at IS NOT NULL AND lease_ends_at IS NULL)
  SELECT least(planned.due_at, (
    SELECT min(greatest(finalizes_at, lease_ends_at)) FROM invoice
    WHERE test_clock_id = $1 AND lease_ends_at IS NOT NULL
      AND finalizes_at <= coalesce(planned.due_at, 'infinity'))) AS due_at
  FROM planned`;

const LOCK = `
  SELECT id FROM invoice WHERE id = ANY ($1) AND finalizes_at IS NOT NULL ORDER BY id FOR UPDATE`;

const OF_SUBSCRIPTIONS = `
  SELECT id FROM invoice WHERE subscription_id = ANY ($1) AND finalizes_at IS NOT NULL
  ORDER BY finalizes_at, id`;

const OF_CUSTOMER = `
  SELECT id FROM invoice WHERE customer_id = $1 AND finalizes_at IS NOT NULL`;

/** Finds the drafts that wait for their grace to end. */
@Injectable()
export class RenewalDraftsRepository {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
  ) {}

  /** Leases the drafts that are due by the real clock, in due order, to the caller. */
  claimDue(now: Date, leaseEndsAt: Date, most: number): Promise<readonly DueDraft[]> {
    return this.database.query<DueDraft>(CLAIM_DUE, [now, leaseEndsAt, most]);
  }

  /** Returns the drafts that are due on a test clock, in due order. */
  dueOn(testClockId: string, now: Date, most: number): Promise<readonly DueDraft[]> {
    return this.database.query<DueDraft>(DUE_ON_TEST_CLOCK, [testClockId, now, most]);
  }

  /** Keeps a draft from being finalised before an instant. */
  async postpone(id: string, until: Date): Promise<void> {
    await this.database.query('UPDATE invoice SET lease_ends_at = $2 WHERE id = $1', [id, until]);
  }

  /** When the next one is due on a test clock. */
  async nextDueOn(testClockId: string): Promise<Date | null> {
    const [row] = await this.database.query<{ due_at: Date | null }>(NEXT_ON_TEST_CLOCK, [
      testClockId,
    ]);
    return row?.due_at ?? null;
  }

  /** Locks the given drafts that still wait until the transaction ends. Returns them in the order of the ids. */
  async lock(ids: readonly string[]): Promise<readonly WaitingDraft[]> {
    this.database.requireTransaction();
    const rows = await this.database.query<{ id: string }>(LOCK, [ids]);
    if (rows.length === 0) return [];
    const found = await this.invoices.findAll(rows.map(({ id }) => id));
    const place = new Map(ids.map((id, index) => [id, index]));
    const placeOf = ({ id }: WaitingDraft): number => place.get(id) ?? 0;
    return found.filter(isWaiting).sort((one, other) => placeOf(one) - placeOf(other));
  }

  /** Returns the waiting drafts of a customer, oldest first. */
  async ofCustomer(customerId: string): Promise<readonly WaitingDraft[]> {
    const rows = await this.database.query<{ id: string }>(OF_CUSTOMER, [customerId]);
    if (rows.length === 0) return [];
    return (await this.invoices.findAll(rows.map(({ id }) => id))).filter(isWaiting);
  }

  /** Ids of those of subscriptions, in due order. */
  async ofSubscriptions(subscriptionIds: readonly string[]): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(OF_SUBSCRIPTIONS, [subscriptionIds]);
    return rows.map(({ id }) => id);
  }
}
