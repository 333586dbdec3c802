import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../clock';
import { Configuration } from '../config';
import { keptFrom } from '../database';
import { Jobs } from '../jobs';
import { EventLog } from './event-log';

const EVERY_MS = 3_600_000;
const BATCH_SIZE = 500;

/** Deletes events whose retention has ended, together with their deliveries, in small commits. */
@Injectable()
export class EventRetention implements OnModuleInit {
  private readonly logger = new Logger('event-retention');
  /**
   * Id after which the next batch starts; empty for the first batch of a pass over all old events. Later batches of the
   * pass do not check again the events that earlier batches kept.
   */
  private after = '';

  constructor(
    private readonly events: EventLog,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
  ) {}

  onModuleInit(): void {
    if (this.configuration.eventRetentionMonths === null) return;
    this.jobs.register({
      name: 'event-retention',
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
    });
  }

  /** Deletes one batch of events. Returns true if there may be more events to delete. */
  async runDue(): Promise<boolean> {
    const { eventRetentionMonths } = this.configuration;
    if (eventRetentionMonths === null) return false;
    const before = keptFrom(this.clock.now(), eventRetentionMonths);
    const { deleted, next } = await this.events.deleteOldest(before, BATCH_SIZE, this.after);
    this.after = next ?? '';
    if (deleted > 0) this.logger.log({ deleted, before }, 'deleted events');
    return next !== null;
  }
}
