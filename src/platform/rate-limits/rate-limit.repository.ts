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

const DELETE_BEFORE = 'DELETE FROM rate_limit_count WHERE window_start < $1';

@Injectable()
export class RateLimitRepository {
  constructor(private readonly database: Database) {}

  /**
   * Adds counts of this process to the counts of a minute, in the order of buckets to avoid deadlocks. Returns the
   * counts of all processes for these buckets.
   */
  async add(windowStart: Date, counts: readonly BucketCount[]): Promise<readonly BucketCount[]> {
    const rows = await this.database.query<{ bucket: string; request_count: string }>(ADD, [
      windowStart,
      JSON.stringify(counts),
    ]);
    return rows.map(({ bucket, request_count: count }) => ({ bucket, count: Number(count) }));
  }

  async deleteBefore(windowStart: Date): Promise<void> {
    await this.database.query(DELETE_BEFORE, [windowStart]);
  }
}
