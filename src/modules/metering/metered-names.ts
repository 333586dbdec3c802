import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { BoundedMap } from '../../platform/caching';
import { Metrics } from '../../platform/observability';
import { MetersService } from '../meters';

/** Time for which an event name is cached as having no meter. */
const UNMETERED_FOR_MS = 5_000;
const MAX_ENTRIES = 50_000;

/** Number of events with an event name that no meter counts. */
export interface UncountedEvents {
  readonly eventName: string;
  readonly events: number;
}

/**
 * Finds reported events whose event name no meter counts. Names with a meter stay cached, because meters are never
 * deleted.
 */
@Injectable()
export class MeteredNames {
  private readonly logger = new Logger('usage');
  private readonly metered = new BoundedMap<string, true>(MAX_ENTRIES);
  /** Event names without a meter, each with the time at which its cache entry ends. */
  private readonly unmetered = new BoundedMap<string, number>(MAX_ENTRIES);
  private readonly uncounted: Counter;

  constructor(
    private readonly meters: MetersService,
    { registry }: Metrics,
  ) {
    this.uncounted = new Counter({
      name: 'usage_events_uncounted_total',
      help: 'Usage events, accepted or repeated, of names that no meter counts.',
      registers: [registry],
    });
  }

  /**
   * Returns an entry for each event name that no meter counts, and adds the number of its events to a metric. If the
   * lookup fails, logs the error and returns an empty list, because the events are stored already.
   * @param events number of events by name
   */
  async findUncounted(events: ReadonlyMap<string, number>): Promise<readonly UncountedEvents[]> {
    try {
      const nowMs = performance.now();
      const unknown = [...events.keys()].filter(
        (name) => !this.metered.has(name) && (this.unmetered.get(name) ?? 0) <= nowMs,
      );
      if (unknown.length > 0) await this.lookUp(unknown, nowMs);
    } catch (error) {
      this.logger.warn({ err: error }, 'Looking up the meters of reported events failed');
      return [];
    }
    const found = [...events]
      .filter(([name]) => !this.metered.has(name))
      .map(([eventName, count]) => ({ eventName, events: count }));
    for (const { events: count } of found) this.uncounted.inc(count);
    return found;
  }

  private async lookUp(names: readonly string[], nowMs: number): Promise<void> {
    const metered = await this.meters.findMeteredEventNames(names);
    for (const name of names) this.unmetered.set(name, nowMs + UNMETERED_FOR_MS);
    for (const name of metered) {
      this.metered.set(name, true);
      this.unmetered.delete(name);
    }
  }
}
