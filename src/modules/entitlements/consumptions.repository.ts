import { Injectable } from '@nestjs/common';
import { parseExact, type Rational } from '../../core/decimal';
import { Database, violatedConstraint } from '../../platform/database';
import type { BalanceKey } from './balances.repository';
import { toNumeric } from './decimal-column';
import type { Consumption, ConsumptionDecision } from './domain/consumption';
import type { BalanceRecord } from './domain/customer-entitlement';
import { entitlementKeyNotFound } from './entitlements.errors';

/** The balance to consume, by the id of its customer and the key of its entitlement. */
export interface ConsumptionTarget {
  readonly customerId: string;
  readonly key: string;
}

export interface DecidedConsumptions {
  readonly record: BalanceRecord;
  readonly decisions: readonly ConsumptionDecision[];
}

export interface StoredConsumption {
  readonly quantity: Rational;
  readonly answer: Consumption;
}

interface StoredAnswerRow extends BalanceKey {
  readonly idempotencyKey: string;
  readonly quantity: string;
  readonly answer: object;
}

const FIND_METERS = `
  SELECT key, meter_id AS "meterId" FROM entitlement WHERE key = ANY ($1) AND type = 'metered'`;

const FIND = `
  SELECT c.customer_id AS "customerId", c.entitlement_id AS "entitlementId", c.idempotency_key AS "idempotencyKey",
    c.quantity, c.answer
  FROM unnest($1::text[], $2::text[], $3::text[]) AS requested (customer_id, entitlement_id, idempotency_key)
  JOIN entitlement_consumption c ON c.customer_id = requested.customer_id AND c.entitlement_id = requested.entitlement_id
    AND c.idempotency_key = requested.idempotency_key`;

export const INTO_ANSWERS = `
  INSERT INTO entitlement_consumption (customer_id, entitlement_id, idempotency_key, quantity, answer, created_at)`;

/** Inserts in key order, so that concurrent transactions with the same keys wait for each other and cannot deadlock. */
const STORE = `
  ${INTO_ANSWERS}
  SELECT customer_id, entitlement_id, idempotency_key, quantity, answer, $6
  FROM unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::jsonb[])
    AS new (customer_id, entitlement_id, idempotency_key, quantity, answer)
  ORDER BY customer_id COLLATE "C", entitlement_id COLLATE "C", idempotency_key COLLATE "C"
  ON CONFLICT DO NOTHING
  RETURNING 1`;

const TOTAL_SINCE = `
  SELECT coalesce(sum(quantity), 0) AS total FROM entitlement_consumption
  WHERE customer_id = $1 AND entitlement_id = $2 AND created_at >= $3 AND (answer->>'isAllowed')::boolean`;

@Injectable()
export class ConsumptionsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns the meter of each metered entitlement with one of these keys. `meterId` is null if only consumption
   * requests count as usage of the entitlement.
   */
  findMeterIds(
    keys: readonly string[],
  ): Promise<readonly { readonly key: string; readonly meterId: string | null }[]> {
    return this.database.query(FIND_METERS, [keys]);
  }

  /** Returns stored answers: for each element of `requested`, in the same order, a map by idempotency key. */
  async find(
    requested: readonly { readonly key: BalanceKey; readonly idempotencyKeys: readonly string[] }[],
  ): Promise<readonly ReadonlyMap<string, StoredConsumption>[]> {
    const found = requested.map(() => new Map<string, StoredConsumption>());
    const byBalance = new Map(
      requested.map(({ key }, index) => [balanceKeyText(key), found[index]]),
    );
    const each = requested.flatMap(({ key, idempotencyKeys }) =>
      idempotencyKeys.map((idempotencyKey) => ({ ...key, idempotencyKey })),
    );
    const rows = await this.database.queryPrepared<StoredAnswerRow>('consumptions-find', FIND, [
      each.map(({ customerId }) => customerId),
      each.map(({ entitlementId }) => entitlementId),
      each.map(({ idempotencyKey }) => idempotencyKey),
    ]);
    for (const row of rows) {
      const quantity = parseExact(row.quantity);
      const stored = { quantity, answer: toConsumption(row.answer) };
      byBalance.get(balanceKeyText(row))?.set(row.idempotencyKey, stored);
    }
    return found;
  }

  /** Returns the total quantity that allowed requests have consumed from a balance since an instant, inclusive. */
  async totalSince({ customerId, entitlementId }: BalanceKey, since: Date): Promise<Rational> {
    const parameters = [customerId, entitlementId, since];
    return parseExact((await this.database.queryValue<string>(TOTAL_SINCE, parameters)) ?? '0');
  }

  /**
   * Stores answers. A key that already has an answer keeps it. Returns the number of new answers.
   * @throws {ProblemError} `entitlement_key_not_found` if the entitlement was deleted concurrently
   */
  async store(decided: readonly DecidedConsumptions[], createdAt: Date): Promise<number> {
    const each = decided.flatMap(({ record: { row }, decisions }) =>
      decisions.map((decision) => ({ row, ...decision })),
    );
    try {
      const kept = await this.database.queryPrepared('consumptions-store', STORE, [
        each.map(({ row }) => row.customerId),
        each.map(({ row }) => row.entitlementId),
        each.map(({ idempotencyKey }) => idempotencyKey),
        each.map(({ quantity }) => toNumeric(quantity)),
        each.map(({ answer }) => JSON.stringify(answer)),
        createdAt,
      ]);
      return kept.length;
    } catch (error) {
      if (violatedConstraint(error) === 'entitlement_consumption_entitlement_id_fkey') {
        throw entitlementKeyNotFound(decided[0]?.record.entitlement.key ?? '');
      }
      throw error;
    }
  }
}

function balanceKeyText({ customerId, entitlementId }: BalanceKey): string {
  return `${customerId} ${entitlementId}`;
}

function toConsumption(stored: object): Consumption {
  const { isAllowed, state } = stored as Consumption;
  const resetsAt = state.resetsAt === null ? null : new Date(state.resetsAt);
  return { isAllowed, state: { ...state, resetsAt } };
}
