import { newId } from '../src/platform/ids';
import type { PlayerJob } from './processes/statement-player';
import { startWorker } from './support/channel';
import { measureLoad, startLoadGenerator, WARM_UP_MS } from './support/load';
import { alternate, type Finding, type Settings } from './support/rounds';
import { createMany, post, startService } from './support/service';
import { idempotencyKey, type Recorder, startRecorder } from './support/statements';
import type { TemporaryDatabase } from './support/temporary-database';

const PAYMENTS = 1_000;
/** Minor units of each payment: much more than a run refunds, so that no refund is refused. */
const AMOUNT = 1_000_000_000;

/** Measures refunds per second. Compares them with the statements of a refund alone, replayed on as many connections. */
export async function benchmarkRefunds(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const { connections, seconds, rounds } = settings;
  const service = await startService(database, settings);
  const load = startLoadGenerator();
  const player = startWorker<PlayerJob, number>('statement-player.ts');
  // The recorder runs until the end, because the replayed rows name its process as the holder of a lease. The measured
  // service would take over the work of a process that has ended.
  const recorder = await startRecorder(database);
  try {
    const payments = await seed(service.url);
    const recorded = await recordRefund(recorder, payments[0] ?? '');
    console.log(`one refund: ${recorded.statements.length} statements`);
    const run = Date.now().toString(36);
    const requests = payments.map((id) => ({
      method: 'POST' as const,
      path: `/v1/refunds/payment/${id}`,
      body: JSON.stringify({ amount: 1, idempotencyKey: `${run}-{n}` }),
    }));
    const rates = await alternate(
      rounds,
      async () => (await measureLoad(load, service.port, requests, settings)).perSecond,
      () =>
        player.request({
          databaseUrl: database.url,
          payments,
          ...recorded,
          connections,
          durationMs: seconds * 1_000,
          warmUpMs: WARM_UP_MS,
        }),
    );
    const target = { kind: 'ratio', atLeast: 0.4 } as const;
    return [{ benchmark: 'refunds', unit: 'refunds/s', ...rates, target }];
  } finally {
    await Promise.all([load.stop(), player.stop(), recorder.stop(), service.stop()]);
  }
}

async function seed(url: string): Promise<readonly string[]> {
  const [customer] = await createMany(`${url}/v1/customers`, 1, () => ({
    name: 'Ada Lovelace',
  }));
  return createMany(`${url}/v1/payments`, PAYMENTS, () => ({
    customer_id: customer,
    amount: AMOUNT,
    currency: 'EUR',
  }));
}

async function recordRefund(
  recorder: Recorder,
  paymentId: string,
): Promise<Pick<PlayerJob, 'statements' | 'recordedPayment' | 'recordedKey' | 'recordedAfter'>> {
  let serial = 0;
  let recordedKey = '';
  let recordedAfter = '';
  const statements = await recorder.recordOf(async () => {
    serial += 1;
    recordedKey = idempotencyKey('recorded', serial);
    recordedAfter = newId('ref');
    const path = `${recorder.url}/v1/refunds/payment/${paymentId}`;
    await post(path, { amount: 1, idempotencyKey: recordedKey });
  });
  return { statements, recordedPayment: paymentId, recordedKey, recordedAfter };
}
