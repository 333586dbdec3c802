import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { TestClockParticipants } from '../../test-clocks';

/** Tables that refer to a stream. The streams themselves are deleted last. */
const PARTS = [
  'usage_billed',
  'usage_window',
  'usage_distinct_value',
  'usage_bucket',
  'usage_tally',
  'usage_event',
];

/** Locks the streams first, as writers do, so that no event is stored while its stream is being purged. */
const PURGE = [
  'SELECT FROM usage_stream WHERE customer_id = ANY ($1) ORDER BY id FOR UPDATE',
  ...PARTS.map(
    (table) => `
      DELETE FROM ${table}
      WHERE stream_id IN (SELECT id FROM usage_stream WHERE customer_id = ANY ($1))`,
  ),
  'DELETE FROM usage_closed_subscription WHERE customer_id = ANY ($1)',
  'DELETE FROM usage_stream WHERE customer_id = ANY ($1)',
];

/** Purges the usage of customers on a deleted test clock. */
@Injectable()
export class UsagePurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'usage',
      purge: async (customerIds) => {
        for (const statement of PURGE) await this.database.query(statement, [customerIds]);
        return [];
      },
    });
  }
}
