import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import type { DueTable } from '../test-clocks';
import { isWaiting, type WaitingDraft } from './domain/grace';
import { InvoicesRepository } from './invoices.repository';

/** Ids of a draft that is due, and of its subscription. The subscription must be locked before the draft. */
export interface DueDraft {
  readonly id: string;
  readonly subscriptionId: string;
}

/** Renewal drafts, which are due when their grace period ends. */
export const DUE_DRAFTS: DueTable<DueDraft> = {
  table: 'invoice',
  dueColumn: 'finalizes_at',
  columns: { subscriptionId: 'subscription_id' },
};

const LOCK = `
  SELECT id FROM invoice WHERE id = ANY ($1) AND finalizes_at IS NOT NULL ORDER BY id FOR NO KEY UPDATE`;

const OF_SUBSCRIPTIONS = `
  SELECT id FROM invoice WHERE subscription_id = ANY ($1) AND finalizes_at IS NOT NULL
  ORDER BY finalizes_at, id`;

const OF_CUSTOMER = `
  SELECT id FROM invoice WHERE customer_id = $1 AND finalizes_at IS NOT NULL`;

/**
 * Reads, by customer, the start of the earliest billing period whose usage a renewal draft bills. Leaves out customers
 * on test clocks, because their usage is not archived, and the index that this query uses does not contain their
 * drafts.
 */
const USAGE_SINCE = `
  SELECT invoice.customer_id AS "customerId", min((line #>> '{heldSince,$instant}')::timestamptz) AS since
  FROM invoice CROSS JOIN LATERAL jsonb_array_elements(invoice.ordered_lines) AS line
  WHERE invoice.customer_id = ANY ($1) AND invoice.finalizes_at IS NOT NULL AND invoice.test_clock_id IS NULL
    AND line ->> 'kind' = 'usage'
  GROUP BY invoice.customer_id`;

/** Finds renewal drafts: invoices for a renewal that stay drafts until their grace period ends. */
@Injectable()
export class RenewalDraftsRepository {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
  ) {}

  /** Locks the drafts with these ids that are not finalized yet. Returns them in the order of `ids`. */
  async lock(ids: readonly string[]): Promise<readonly WaitingDraft[]> {
    this.database.requireTransaction();
    const locked = await this.database.queryValues<string>(LOCK, [ids]);
    if (locked.length === 0) return [];
    const found = await this.invoices.findAll(locked);
    const place = new Map(ids.map((id, index) => [id, index]));
    const placeOf = ({ id }: WaitingDraft): number => place.get(id) ?? 0;
    return found.filter(isWaiting).sort((one, other) => placeOf(one) - placeOf(other));
  }

  /** Returns the renewal drafts of a customer, oldest first. */
  async ofCustomer(customerId: string): Promise<readonly WaitingDraft[]> {
    const ids = await this.database.queryValues<string>(OF_CUSTOMER, [customerId]);
    if (ids.length === 0) return [];
    return (await this.invoices.findAll(ids)).filter(isWaiting);
  }

  /**
   * Returns, by customer, the start of the earliest billing period whose usage a renewal draft bills. Omits customers
   * on test clocks.
   */
  async usageSince(customerIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const rows = await this.database.query<{ customerId: string; since: Date }>(USAGE_SINCE, [
      customerIds,
    ]);
    return new Map(rows.map(({ customerId, since }) => [customerId, since]));
  }

  /** Returns the ids of the renewal drafts of these subscriptions, in the order in which their grace periods end. */
  ofSubscriptions(subscriptionIds: readonly string[]): Promise<readonly string[]> {
    return this.database.queryValues<string>(OF_SUBSCRIPTIONS, [subscriptionIds]);
  }
}
