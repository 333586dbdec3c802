import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from './metrics';

const DAMAGED_OBJECTS = ['event', 'audit_change', 'audit_seal', 'usage_file'] as const;
type DamagedObject = (typeof DAMAGED_OBJECTS)[number];

/** Logs and counts objects whose stored data is missing or cannot be read. */
@Injectable()
export class DamagedReads {
  private readonly logger = new Logger('damaged-data');
  private readonly reads: Counter<'object'>;

  constructor({ registry }: Metrics) {
    this.reads = new Counter({
      name: 'damaged_reads_total',
      help: 'Reads of events, audited changes, seals and archive files whose data is missing or damaged.',
      labelNames: ['object'],
      registers: [registry],
    });
    // Starts each series at 0, because Prometheus sees no increase in a series that begins with its first report.
    for (const object of DAMAGED_OBJECTS) this.reads.inc({ object }, 0);
  }

  /**
   * @param ids ids of events, positions of audited changes, numbers of audit seals (checksums over groups of audit
   *   entries), or names of usage archive files. An empty list reports nothing.
   */
  report(object: DamagedObject, ids: readonly string[]): void {
    if (ids.length === 0) return;
    this.reads.inc({ object }, ids.length);
    this.logger.error({ object, ids }, 'stored data is missing or damaged');
  }
}
