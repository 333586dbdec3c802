import { resolve } from 'node:path';
import { measureCpuTime } from './support/cpu-time';
import { measureLoad, startLoadGenerator } from './support/load';
import { type Finding, inTurn, type Settings } from './support/rounds';
import { createMany, type Service, startService } from './support/service';
import type { TemporaryDatabase } from './support/temporary-database';

const PAYMENTS = 1_000;
/** Minor units of each payment: much more than a run refunds, so that no refund is refused. */
const AMOUNT = 1_000_000_000;
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
  const load = startLoadGenerator();
  const run = Date.now().toString(36);
  const measure = (service: Service) => () =>
    measureCpuTime([service], database, async () => {
      const requests = payments.map((id) => ({
        method: 'POST' as const,
        path: `/v1/refunds/payment/${id}`,
        body: JSON.stringify({ amount: 1, idempotencyKey: `${run}-${service.port}-{n}` }),
      }));
      const { answers, perSecond } = await measureLoad(load, service.port, requests, settings);
      return { items: answers, perSecond };
    });
  try {
    const sides = { figures: measure(audited), ceilings: measure(unaudited) };
    const { figures, ceilings } = await inTurn(settings.rounds, sides);
    return [
      {
        benchmark: 'audit: refunds',
        unit: 'refunds/s',
        figures: figures.map(({ perSecond }) => perSecond),
        ceilings: ceilings.map(({ perSecond }) => perSecond),
        target: { kind: 'ratio', atLeast: 0.95 },
      },
      {
        benchmark: 'audit: CPU time of a refund',
        unit: 'µs',
        figures: figures.map(({ ofService, ofDatabase }) => ofService + ofDatabase),
        ceilings: ceilings.map(({ ofService, ofDatabase }) => ofService + ofDatabase),
        target: null,
      },
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
