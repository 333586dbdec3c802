import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { TestClockRemovals } from '../../test-clocks';

/** What is kept of a stream; the streams go last. */
const PARTS = [
  'usage_billed',
  'usage_window',
  'usage_distinct_value',
  'usage_bucket',
  'usage_tally',
  'usage_event',
];

const REMOVE = [
  ...PARTS.map(
    (table) => `
      DELETE FROM ${table}
      WHERE stream_id IN (SELECT id FROM usage_stream WHERE customer_id = ANY ($1))`,
  ),
  'DELETE FROM usage_stream WHERE customer_id = ANY ($1)',
];

/** The usage of customers on a test clock goes with it. */
@Injectable()
export class UsageRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.removals.register({
      name: 'usage',
      remove: async (customerIds) => {
        for (const remove of REMOVE) await this.database.query(remove, [customerIds]);
        return [];
      },
    });
  }
}
