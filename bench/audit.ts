import { resolve } from 'node:path';
import { startWorker } from './support/channel';
import { measureCpuTime } from './support/cpu-time';
import type { LoadJob, LoadResult } from './support/load';
import { alternate, type Finding, type Settings } from './support/rounds';
import { createMany, type Service, startService } from './support/service';
import type { TemporaryDatabase } from './support/temporary-database';

const PAYMENTS = 1_000;
/** Minor units of each payment: much more than a run refunds, so that no refund is refused. */
const AMOUNT = 1_000_000_000;
const WARM_UP_MS = 500;
const WITHOUT = resolve('bench/processes/without-audit-log.cjs');

/**
 * Measures refunds per second of a service with the audit log and of one without it, in turn on one database. Both only
 * answer requests: events are not dispatched, and the audit log is not sealed.
 */
export async function benchmarkAudit(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  // Makes the payments. The two measured services then start on the same database.
  const worker = await startService(database, settings);
  const payments = await seed(worker.url);
  await worker.stop();
  const audited = await startService(database, settings, { ROLE: 'api' });
  const unaudited = await startService(database, settings, {
    ROLE: 'api',
    // Quoted, because the folder may have a space in its name.
    NODE_OPTIONS: `--require ${JSON.stringify(WITHOUT)}`,
  });
  const load = startWorker<LoadJob, LoadResult>('load-generator.ts');
  const run = Date.now().toString(36);
  const cpuTimes = new Map<Service, number[]>([
    [audited, []],
    [unaudited, []],
  ]);
  const rateOf = (service: Service) => async (): Promise<number> => {
    let perSecond = 0;
    const { ofService, ofDatabase } = await measureCpuTime([service], database, async () => {
      const result = await load.request({
        port: service.port,
        connections: settings.connections,
        requests: payments.map((id) => ({
          method: 'POST',
          path: `/v1/refunds/payment/${id}`,
          body: JSON.stringify({ amount: 1, idempotencyKey: `${run}-${service.port}-{n}` }),
        })),
        durationMs: settings.seconds * 1_000,
        warmUpMs: WARM_UP_MS,
      });
      perSecond = result.perSecond;
      return { items: result.answers };
    });
    cpuTimes.get(service)?.push(ofService + ofDatabase);
    return perSecond;
  };
  try {
    const rates = await alternate(settings.rounds, rateOf(audited), rateOf(unaudited));
    // Discards the first round of each service, as `alternate` does for the rates.
    const [figures = [], ceilings = []] = [...cpuTimes.values()].map((times) => times.slice(1));
    return [
      {
        benchmark: 'audit: refunds',
        unit: 'refunds/s',
        ...rates,
        target: { kind: 'ratio', atLeast: 0.95 },
      },
      { benchmark: 'audit: CPU time of a refund', unit: 'µs', figures, ceilings, target: null },
    ];
  } finally {
    await Promise.all([load.stop(), audited.stop(), unaudited.stop()]);
  }
}

async function seed(url: string): Promise<readonly string[]> {
  const [customer] = await createMany(`${url}/v1/customers`, 1, () => ({ name: 'Ada Lovelace' }));
  return createMany(`${url}/v1/payments`, PAYMENTS, () => ({
    customer_id: customer,
    amount: AMOUNT,
    currency: 'EUR',
  }));
}
