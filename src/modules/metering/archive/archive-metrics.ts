import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Configuration } from '../../../platform/config';
import { DatabaseGauges, Metrics } from '../../../platform/observability';
import { UsageArchiveRepository } from './usage-archive.repository';

/** Metrics of the archive of usage events. Registered only in processes that archive. */
@Injectable()
export class ArchiveMetrics {
  readonly archived = new Counter({
    name: 'usage_archived_events_total',
    help: 'Usage events that this process wrote to the archive.',
    registers: [],
  });

  readonly removed = new Counter({
    name: 'usage_removed_events_total',
    help: 'Archived usage events that this process removed from the database.',
    registers: [],
  });

  constructor(
    { registry }: Metrics,
    { usageArchive, doesDueWork }: Configuration,
    gauges: DatabaseGauges,
    archive: UsageArchiveRepository,
  ) {
    if (usageArchive === null || !doesDueWork) return;
    for (const metric of [this.archived, this.removed]) registry.registerMetric(metric);
    gauges.register(
      [
        {
          name: 'usage_oldest_month_timestamp_seconds',
          help: 'Unix time of the start of the oldest month with usage events that were not archived when the last search began.',
          labelNames: [],
        },
      ],
      async (oldestMonth) => {
        const startAt = await archive.oldestMonth();
        if (startAt === null) oldestMonth.remove();
        else oldestMonth.set(startAt.getTime() / 1_000);
      },
    );
  }
}
