import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { answerJobs } from '../support/channel';

/** Sends reads, refunds and readiness probes at fixed rates, and times each from the moment it was due. */

export interface ProberJob {
  readonly port: number;
  readonly customers: readonly string[];
  readonly payments: readonly string[];
  /** Rate of reads and of refunds. */
  readonly requestsPerSecond: number;
  readonly readinessEveryMs: number;
  readonly durationMs: number;
}

export interface ProberResult {
  readonly readsMs: readonly number[];
  readonly refundsMs: readonly number[];
  readonly readinessMs: readonly number[];
  /** Failed requests, each with its status and body, or its error. */
  readonly failures: readonly string[];
}

/** A request without a response for this time counts as failed. */
const GIVE_UP_AFTER_MS = 60_000;

const agent = new Agent({ keepAlive: true });
const run = Date.now().toString(36);
let refunds = 0;

function send(port: number, path: string, body?: object): Promise<string | null> {
  return new Promise((resolve) => {
    const sent = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
        timeout: GIVE_UP_AFTER_MS,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', (error) => resolve(`${path}: ${error.message}`));
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          resolve(status < 400 ? null : `${path}: ${status} ${text}`);
        });
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', (error) => resolve(`${path}: ${error.message}`));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Sends requests at a fixed rate, even while earlier requests are unanswered. */
async function probe(
  everyMs: number,
  durationMs: number,
  failures: string[],
  sendOne: (index: number) => Promise<string | null>,
): Promise<readonly number[]> {
  const startedAt = performance.now();
  const count = Math.floor(durationMs / everyMs);
  const lengthsMs: Promise<number>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dueAt = startedAt + index * everyMs;
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await pause(waitMs);
    const answered = sendOne(index).then((failure) => {
      if (failure !== null) failures.push(failure);
      return performance.now() - dueAt;
    });
    lengthsMs.push(answered);
  }
  return Promise.all(lengthsMs);
}

answerJobs(async (job: ProberJob): Promise<ProberResult> => {
  const { port, customers, payments, durationMs } = job;
  const failures: string[] = [];
  const read = (index: number) =>
    send(port, `/v1/customers/${customers[index % customers.length] ?? ''}`);
  const refund = () => {
    refunds += 1;
    const payment = payments[refunds % payments.length] ?? '';
    const body = { amount: 1, idempotencyKey: `${run}-${refunds}` };
    return send(port, `/v1/refunds/payment/${payment}`, body);
  };
  const [readsMs, refundsMs, readinessMs] = await Promise.all([
    probe(1_000 / job.requestsPerSecond, durationMs, failures, read),
    probe(1_000 / job.requestsPerSecond, durationMs, failures, refund),
    probe(job.readinessEveryMs, durationMs, failures, () => send(port, '/health/ready')),
  ]);
  return { readsMs, refundsMs, readinessMs, failures };
});
