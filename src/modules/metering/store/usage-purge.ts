import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { CustomerDeletionHooks } from '../../customers';
import { TestClockPurges } from '../../test-clocks';
import { UsageStreams } from './usage-streams';

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

/** Purges the usage of customers on a deleted test clock, and outdates the cached streams of deleted customers. */
@Injectable()
export class UsagePurge implements OnModuleInit {
  constructor(
    private readonly purges: TestClockPurges,
    private readonly deletions: CustomerDeletionHooks,
    private readonly streams: UsageStreams,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.deletions.register((customerId) => this.streams.outdate(customerId));
    this.purges.register({
      name: 'usage',
      purge: async (customerIds) => {
        for (const statement of PURGE) await this.database.query(statement, [customerIds]);
        return [];
      },
    });
  }
}
