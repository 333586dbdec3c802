import { Injectable } from '@nestjs/common';
import { Database } from '../database';

/** Number of requests in a minute by one caller under one policy. `bucket` names the policy and the caller. */
export interface BucketCount {
  readonly bucket: string;
  readonly count: number;
}

const ADD = `
  INSERT INTO rate_limit_count (window_start, bucket, request_count)
  SELECT $1::timestamptz, bucket, count
  FROM json_to_recordset($2::json) AS added (bucket text, count bigint) ORDER BY bucket
  ON CONFLICT (window_start, bucket) DO UPDATE
  SET request_count = rate_limit_count.request_count + excluded.request_count
  RETURNING bucket, request_count`;

/**
 * Deletes old counts. Uses the earlier of two times: the given time and the time of the database. A process whose clock
 * is ahead would otherwise delete counts in use.
 */
const DELETE_BEFORE = `
  DELETE FROM rate_limit_count WHERE window_start < least($1::timestamptz, now()) - interval '10 minutes'`;

@Injectable()
export class RateLimitRepository {
  constructor(private readonly database: Database) {}

  /**
   * Adds the counts of this process to those of all processes, in the order of buckets to avoid deadlocks. Returns the
   * new counts of these buckets.
   */
  async add(windowStart: Date, counts: readonly BucketCount[]): Promise<readonly BucketCount[]> {
    const rows = await this.database.query<{ bucket: string; request_count: string }>(ADD, [
      windowStart,
      JSON.stringify(counts),
    ]);
    return rows.map(({ bucket, request_count: count }) => ({ bucket, count: Number(count) }));
  }

  /** Deletes the counts of minutes that began more than 10 minutes before `windowStart`. */
  async deleteBefore(windowStart: Date): Promise<void> {
    await this.database.query(DELETE_BEFORE, [windowStart]);
  }
}
