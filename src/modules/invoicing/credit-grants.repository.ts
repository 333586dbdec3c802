import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { CreditGrantEntity } from './credit-grant.entity';
import type { StoredCreditGrant } from './domain/credit-grant';

/** The constraint and the condition hold the limit together, whatever the caller read before. */
const MOVE = `
  UPDATE credit_grant SET remaining = remaining - $2
  WHERE id = $1 AND remaining - $2 BETWEEN 0 AND amount RETURNING id`;

const SUM_REMAINING = `
  SELECT customer_id, trim(currency) AS currency, sum(remaining)::text AS amount
  FROM credit_grant WHERE remaining > 0 GROUP BY 1, 2`;

@Injectable()
export class CreditGrantsRepository {
  constructor(private readonly database: Database) {}

  async insert(grant: StoredCreditGrant): Promise<void> {
    await this.database.insert(CreditGrantEntity, grant);
  }

  /**
   * What a customer has left, oldest first.
   * @param lock whether nobody else may use it until the transaction ends
   */
  async open(customerId: string, lock: boolean): Promise<readonly StoredCreditGrant[]> {
    return this.database.repository(CreditGrantEntity).find({
      where: { customerId, remaining: MoreThan(0n) },
      order: { createdAt: 'ASC', id: 'ASC' },
      ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
    });
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
