import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Metrics } from './metrics';

const MAX_SCRAPE_WAIT_MS = 2_000;

interface GaugeDescription<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
}

type GaugesOf<Described extends readonly GaugeDescription<string>[]> = {
  readonly [Place in keyof Described]: Described[Place] extends GaugeDescription<infer Label>
    ? Gauge<Label>
    : never;
};

/** Gauges that are read from the database at each scrape. */
@Injectable()
export class DatabaseGauges {
  constructor(private readonly metrics: Metrics) {}

  /**
   * Registers gauges that `measure` sets together. Concurrent scrapes share one measurement. If the measurement fails
   * or takes longer than 2 s, the gauges have no value, so that the scrape can return the other metrics in time.
   */
  register<const Described extends readonly GaugeDescription<string>[]>(
    described: Described,
    measure: (...gauges: GaugesOf<Described>) => Promise<void>,
  ): void {
    let measuring: Promise<boolean> | null = null;
    const measureOnce = (): Promise<boolean> => {
      measuring ??= measure(...(gauges as GaugesOf<Described>))
        .then(
          () => true,
          () => false,
        )
        .finally(() => {
          measuring = null;
        });
      return measuring;
    };
    const collect = async (): Promise<void> => {
      const isInTime = await Promise.race([
        measureOnce(),
        pause(MAX_SCRAPE_WAIT_MS, false, { ref: false }),
      ]);
      if (!isInTime) for (const gauge of gauges) removeValues(gauge);
    };
    const registers = [this.metrics.registry];
    const gauges = described.map((one) => new Gauge({ ...one, registers, collect }));
  }
}

function removeValues(gauge: Gauge): void {
  gauge.reset();
  // A reset gives a gauge without labels the value 0. For other gauges this has no effect.
  gauge.remove({});
}
