import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { CustomerDeletions } from '../../customers';
import { TestClockRemovals } from '../../test-clocks';
import { UsageStreams } from './usage-streams';

/** What is kept of a stream; the streams go last. */
const PARTS = [
  'usage_billed',
  'usage_window',
  'usage_distinct_value',
  'usage_bucket',
  'usage_tally',
  'usage_event',
];

/** Holds the streams first, as whoever writes to them: nobody stores an event of which a part is removed already. */
const REMOVE = [
  'SELECT FROM usage_stream WHERE customer_id = ANY ($1) ORDER BY id FOR UPDATE',
  ...PARTS.map(
    (table) => `
      DELETE FROM ${table}
      WHERE stream_id IN (SELECT id FROM usage_stream WHERE customer_id = ANY ($1))`,
  ),
  'DELETE FROM usage_stream WHERE customer_id = ANY ($1)',
];

/** The usage of customers on a test clock goes with it; a customer who is deleted reports no more. */
@Injectable()
export class UsageRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly deletions: CustomerDeletions,
    private readonly streams: UsageStreams,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.deletions.register((customerId) => this.streams.outdate(customerId));
    this.removals.register({
      name: 'usage',
      remove: async (customerIds) => {
        for (const remove of REMOVE) await this.database.query(remove, [customerIds]);
        return [];
      },
    });
  }
}
