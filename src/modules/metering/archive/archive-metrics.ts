import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Configuration } from '../../../platform/config';
import { Metrics } from '../../../platform/observability';

/** Metrics of the archive of usage events, registered only in processes that archive. */
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

  readonly oldestMonth = new Gauge({
    name: 'usage_oldest_month_timestamp_seconds',
    help: 'Unix time of the start of the oldest month with usage events that are not archived, at the last daily search.',
    registers: [],
  });

  constructor({ registry }: Metrics, { usageArchive, doesDueWork }: Configuration) {
    if (usageArchive === null || !doesDueWork) return;
    for (const metric of [this.archived, this.removed, this.oldestMonth]) {
      registry.registerMetric(metric);
    }
  }
}
