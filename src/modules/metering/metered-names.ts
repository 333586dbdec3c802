import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../../platform/observability';
import { MetersService } from '../meters';

/** How long a name without a meter is taken to be without one. */
const UNMETERED_FOR_MS = 5_000;
const MOST_KNOWN = 50_000;

/** Events of a name that no meter counts. */
export interface UncountedEvents {
  readonly eventName: string;
  readonly events: number;
}

/** Finds reported events that no meter counts. A name that has a meter keeps it, so that it is looked up once. */
@Injectable()
export class MeteredNames {
  private readonly logger = new Logger('usage');
  private readonly metered = new Set<string>();
  /** Until when names are known to have no meter. */
  private readonly unmetered = new Map<string, number>();
  private readonly uncounted: Counter;

  constructor(
    private readonly meters: MetersService,
    { registry }: Metrics,
  ) {
    this.uncounted = new Counter({
      name: 'usage_events_uncounted_total',
      help: 'Usage events taken or repeated whose name no meter counts.',
      registers: [registry],
    });
  }

  /**
   * The events that no meter counts, by name, which are counted in a metric. Called after the events are stored: a failure
   * is logged and finds none.
   * @param events by name
   */
  async findUncounted(events: ReadonlyMap<string, number>): Promise<readonly UncountedEvents[]> {
    try {
      const nowMs = performance.now();
      const unknown = [...events.keys()].filter(
        (name) => !this.metered.has(name) && (this.unmetered.get(name) ?? 0) <= nowMs,
      );
      if (unknown.length > 0) await this.lookUp(unknown, nowMs);
    } catch (error) {
      this.logger.warn({ err: error }, 'meters of reported events could not be looked up');
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
    if (this.metered.size > MOST_KNOWN) this.metered.clear();
    if (this.unmetered.size > MOST_KNOWN) this.unmetered.clear();
    for (const name of names) this.unmetered.set(name, nowMs + UNMETERED_FOR_MS);
    for (const name of metered) {
      this.metered.add(name);
      this.unmetered.delete(name);
    }
  }
}
