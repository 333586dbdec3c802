import { Injectable } from '@nestjs/common';
import type { Period } from '../../core/time';
import { Reports } from '../../platform/database';
import type { CollectionRow } from './domain/collection';

const ATTEMPTS = `
  SELECT currency, collection_attempt AS attempt, status, failure_code AS "failureCode",
    count(*)::integer AS payments, sum(amount)::text AS amount
  FROM payment
  WHERE created_at >= $1 AND created_at < $2 AND collection_attempt IS NOT NULL
    AND ($3::varchar IS NULL OR currency = $3)
    AND EXISTS (SELECT FROM customer WHERE customer.id = customer_id AND test_clock_id IS NULL)
  GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 NULLS FIRST`;

/** Reads the results of automatic charges from tables of other modules. */
@Injectable()
export class CollectionRepository {
  constructor(private readonly reports: Reports) {}

  /** Leaves out customers on test clocks. */
  within({ startAt, endAt }: Period, currency: string | null): Promise<readonly CollectionRow[]> {
    return this.reports.query<CollectionRow>('analytics', ATTEMPTS, [startAt, endAt, currency]);
  }
}
