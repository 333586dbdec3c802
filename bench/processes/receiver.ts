import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { answerJobs } from '../support/channel';

/** Receives webhooks: answers at once, or after a given time, and records arrivals. */

export type ReceiverJob =
  | { readonly kind: 'listen'; readonly port: number; readonly answersAfterMs?: number }
  /** Restarts the count. */
  | { readonly kind: 'forget' }
  /** Answered after this number of notifications has arrived. */
  | { readonly kind: 'await'; readonly count: number };

export interface Notification {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ReceiverResult {
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Milliseconds from the event's timestamp to its arrival, for each notification. */
  readonly lagsMs: readonly number[];
  readonly last: Notification | null;
}

const TIMESTAMP = /"timestamp":"([^"]+)"/;
const WITHIN_MS = 60_000;

let arrivals: { readonly atMs: number; readonly body: string }[] = [];
let last: Notification | null = null;
let answersAfterMs = 0;
let awaited: { readonly count: number; readonly done: () => void } | null = null;

function note(request: IncomingMessage, body: string): void {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    name.startsWith('webhook-') && typeof value === 'string' ? [[name, value] as const] : [],
  );
  last = { headers: Object.fromEntries(headers), body };
  arrivals.push({ atMs: Date.now(), body });
  if (awaited !== null && arrivals.length >= awaited.count) awaited.done();
}

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const answer = (): void => {
      response.writeHead(200, { 'Content-Length': '0' }).end();
    };
    if (answersAfterMs === 0) answer();
    else setTimeout(answer, answersAfterMs);
    note(request, body);
  });
});

function result(): ReceiverResult {
  return {
    firstAtMs: arrivals[0]?.atMs ?? Number.NaN,
    lastAtMs: arrivals.at(-1)?.atMs ?? Number.NaN,
    lagsMs: arrivals.map(({ atMs, body }) => atMs - Date.parse(TIMESTAMP.exec(body)?.[1] ?? '')),
    last,
  };
}

async function arrived(count: number): Promise<void> {
  if (arrivals.length >= count) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`Of ${count} notifications ${arrivals.length} came.`));
    }, WITHIN_MS);
    const done = (): void => {
      clearTimeout(timer);
      awaited = null;
      resolve();
    };
    awaited = { count, done };
  });
}

answerJobs(async (job: ReceiverJob): Promise<ReceiverResult> => {
  switch (job.kind) {
    case 'listen':
      answersAfterMs = job.answersAfterMs ?? 0;
      await once(server.listen(job.port, '127.0.0.1'), 'listening');
      break;
    case 'forget':
      arrivals = [];
      break;
    case 'await':
      await arrived(job.count);
      break;
  }
  return result();
});
