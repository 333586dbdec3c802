import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { newId } from '../src/platform/ids';
import type { PosterJob } from './processes/outbound-poster';
import type { Notification, ReceiverJob, ReceiverResult } from './processes/receiver';
import { startWorker, type Worker } from './support/channel';
import { type LoadGenerator, startLoadGenerator } from './support/load';
import { alternate, type Finding, percentile, type Settings } from './support/rounds';
import { createMany, freePort, type Service, startService } from './support/service';
import type { TemporaryDatabase } from './support/temporary-database';

const ENDPOINTS = 4;
const BACKLOG_EVENTS = 1_500;
const EVENTS_PER_SECOND = 200;
/** Number of requests in flight without the service. The service also has 32 in flight for each of its endpoints. */
const CONCURRENCY = 32 * ENDPOINTS;
const COUPONS = 50;
const LOOK_AGAIN_MS = 50;

interface Bench {
  readonly database: TemporaryDatabase;
  readonly settings: Settings;
  readonly service: Service;
  readonly receiver: Worker<ReceiverJob, ReceiverResult>;
  readonly poster: Worker<PosterJob, number>;
  readonly load: LoadGenerator;
}

/** Measures the delay from commit to arrival, and deliveries per second from a backlog. */
export async function benchmarkWebhooks(
  database: TemporaryDatabase,
  settings: Settings,
): Promise<readonly Finding[]> {
  const bench: Bench = {
    database,
    settings,
    service: await startService(database, settings),
    receiver: startWorker('receiver.ts'),
    poster: startWorker('outbound-poster.ts'),
    load: startLoadGenerator(),
  };
  try {
    const port = await freePort();
    await bench.receiver.request({ kind: 'listen', port });
    const subscribe = (count: number) =>
      createMany(`${bench.service.url}/v1/webhooks/endpoints`, count, () => ({
        url: `http://127.0.0.1:${port}/hooks`,
        events: ['coupon.updated'],
      }));
    await subscribe(1);
    const { lags, notification } = await measureLags(bench);
    await subscribe(ENDPOINTS - 1);
    const rates = await measureRates(bench, notification, `http://127.0.0.1:${port}/hooks`);
    return [rates, ...lags];
  } finally {
    const { load, poster, receiver, service } = bench;
    await Promise.all([load.stop(), poster.stop(), receiver.stop(), service.stop()]);
  }
}

/** Measures the time from the event's timestamp, shortly before its commit, to the receiver, with one endpoint. */
async function measureLags(bench: Bench): Promise<{
  readonly lags: readonly Finding[];
  readonly notification: Notification;
}> {
  const { settings, service, receiver, load } = bench;
  const coupons = await createMany(`${service.url}/v1/coupons`, COUPONS, () => ({
    type: 'percent',
    percent_off: '20',
    duration: 'once',
  }));
  const p50: number[] = [];
  const p99: number[] = [];
  for (let round = 0; ; round += 1) {
    await receiver.request({ kind: 'forget' });
    const { answers } = await load.request({
      port: service.port,
      connections: settings.connections,
      requests: coupons.map((id) => ({
        method: 'PATCH',
        path: `/v1/coupons/${id}`,
        body: '{"metadata":{"change":"{n}"}}',
      })),
      durationMs: settings.seconds * 1_000,
      warmUpMs: 0,
      perSecond: EVENTS_PER_SECOND,
    });
    const received = await receiver.request({ kind: 'await', count: answers });
    if (round > 0) {
      p50.push(percentile(received.lagsMs, 0.5));
      p99.push(percentile(received.lagsMs, 0.99));
    }
    if (round < settings.rounds || received.last === null) continue;
    const lag = {
      unit: 'ms',
      ceilings: null,
      target: { kind: 'figure', atMost: 500 },
    } as const;
    return {
      lags: [
        { benchmark: 'webhooks: lag p50', figures: p50, ...lag },
        { benchmark: 'webhooks: lag p99', figures: p99, ...lag },
      ],
      notification: received.last,
    };
  }
}

/** Measures deliveries of a backlog, compared with the same HTTP client that posts the same notification without a database. */
async function measureRates(
  { database, settings, receiver, poster }: Bench,
  notification: Notification,
  url: string,
): Promise<Finding> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const count = BACKLOG_EVENTS * ENDPOINTS;
    const drain = async (): Promise<number> => {
      await receiver.request({ kind: 'forget' });
      await addBacklog(client);
      const { firstAtMs, lastAtMs } = await receiver.request({
        kind: 'await',
        count,
      });
      await untilWrittenDown(client);
      return (count * 1_000) / (lastAtMs - firstAtMs);
    };
    const send = async (): Promise<number> => {
      await receiver.request({ kind: 'forget' });
      const perSecond = await poster.request({
        url,
        count,
        concurrency: CONCURRENCY,
        notification,
      });
      await receiver.request({ kind: 'await', count });
      return perSecond;
    };
    const rates = await alternate(settings.rounds, drain, send);
    const target = { kind: 'figure', atLeast: 1_000 } as const;
    return {
      benchmark: 'webhooks: deliveries',
      unit: 'per s',
      ...rates,
      target,
    };
  } finally {
    await client.end();
  }
}

/** Adds copies of an event that the service recorded. Each copy is the first event of an object of its own. */
async function addBacklog(client: Client): Promise<void> {
  const indexes = Array.from({ length: BACKLOG_EVENTS });
  await client.query(
    `WITH recorded AS (
       INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
       SELECT made.id, 'coupon.updated', made.object_id, 1, sample.data, now()
       FROM unnest($1::varchar[], $2::varchar[]) AS made (id, object_id),
         (SELECT data FROM event WHERE type = 'coupon.updated' LIMIT 1) AS sample
       RETURNING id, type, object_id, sequence, occurred_at)
     INSERT INTO event_dispatch (event_id, type, object_id, sequence, occurred_at) SELECT * FROM recorded`,
    [indexes.map(() => newId('evt')), indexes.map(() => newId('coup'))],
  );
}

async function untilWrittenDown(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query(
      `SELECT FROM webhook_delivery WHERE status = 'pending' LIMIT 1`,
    );
    if (rows.length === 0) return;
    await pause(LOOK_AGAIN_MS);
  }
}
