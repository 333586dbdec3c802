import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import type { AppliedCredit } from '../../core/invoice';
import { Database } from '../../platform/database';
import { CreditGrantEntity } from './credit-grant.entity';
import type { StoredCreditGrant } from './domain/credit-grant';

/** The constraint and the condition hold the limit together, whatever the caller read before. */
const MOVE = `
  UPDATE credit_grant SET remaining = remaining - $2
  WHERE id = $1 AND remaining - $2 BETWEEN 0 AND amount RETURNING id`;

const USE_ALL = `
  UPDATE credit_grant SET remaining = remaining - used.amount
  FROM (SELECT id, sum(amount) AS amount FROM unnest($1::text[], $2::bigint[]) AS used (id, amount)
    GROUP BY id) used
  WHERE credit_grant.id = used.id AND remaining >= used.amount
  RETURNING credit_grant.id`;

const SUM_REMAINING = `
  SELECT customer_id, trim(currency) AS currency, sum(remaining)::text AS amount
  FROM credit_grant WHERE remaining > 0 GROUP BY 1, 2`;

@Injectable()
export class CreditGrantsRepository {
  constructor(private readonly database: Database) {}

  async insert(grant: StoredCreditGrant): Promise<void> {
    await this.database.insert(CreditGrantEntity, grant);
  }

  async insertAll(grants: readonly StoredCreditGrant[]): Promise<void> {
    await this.database.insertMany(CreditGrantEntity, grants);
  }

  /**
   * What customers have left, each one's oldest first.
   * @param lock whether nobody else may use it until the transaction ends
   */
  async open(customerIds: readonly string[], lock: boolean): Promise<readonly StoredCreditGrant[]> {
    const tail = `WHERE customer_id = ANY ($1) AND remaining > 0 ORDER BY customer_id, created_at, id${lock ? ' FOR UPDATE' : ''}`;
    return this.database.select(CreditGrantEntity, tail, [customerIds]);
  }

  /** What each customer has left, in minor units. */
  async sumRemaining(): Promise<
    readonly { customerId: string; currency: string; amountMinor: bigint }[]
  > {
    const rows = await this.database.query<{
      customer_id: string;
      currency: string;
      amount: string;
    }>(SUM_REMAINING);
    return rows.map(({ customer_id: customerId, currency, amount }) => ({
      customerId,
      currency,
      amountMinor: BigInt(amount),
    }));
  }

  /** Uses some of each credit. */
  async useAll(used: readonly AppliedCredit[]): Promise<void> {
    this.database.requireTransaction();
    if (used.length === 0) return;
    const rows = await this.database.query(USE_ALL, [
      used.map(({ creditId }) => creditId),
      used.map(({ amountMinor }) => amountMinor.toString()),
    ]);
    const credits = new Set(used.map(({ creditId }) => creditId));
    invariant(rows.length === credits.size, 'The credits hold what is used of them.');
  }

  /** Uses some of a credit; negative gives it back. */
  async use(id: string, amount: bigint): Promise<void> {
    invariant(await this.tryUse(id, amount), `The credit ${id} does not hold ${amount}.`);
  }

  /** The same, where it may hold less: false, and nothing is used. */
  async tryUse(id: string, amount: bigint): Promise<boolean> {
    this.database.requireTransaction();
    const rows = await this.database.query(MOVE, [id, amount.toString()]);
    return rows.length === 1;
  }
}
