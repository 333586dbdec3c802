import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { answerJobs } from '../support/channel';
import type { LoadJob, LoadResult, RequestTemplate } from '../support/load';
import { percentile } from '../support/rounds';

/**
 * Sends requests over kept-alive connections, each with one request in flight. Uses sockets directly, because the
 * client of `node:http` needs as much CPU time as the server, and would limit the faster side of every comparison.
 */

const HEADER_END = Buffer.from('\r\n\r\n');
const NOTHING = Buffer.alloc(0);

class Connection {
  private received: Buffer = NOTHING;
  private answered: ((status: number) => void) | null = null;
  private failed: ((error: Error) => void) | null = null;

  constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('error', (error) => this.failed?.(error));
    socket.on('close', () => this.failed?.(new Error('The server closed a connection.')));
  }

  /** Sends a request; returns the status of the response. */
  send(request: string): Promise<number> {
    return new Promise((answered, failed) => {
      this.answered = answered;
      this.failed = failed;
      this.socket.write(request);
    });
  }

  close(): void {
    this.failed = null;
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const end = this.received.indexOf(HEADER_END);
    if (end === -1) return;
    const head = this.received.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.failed?.(new Error(`An answer of unknown length:\n${head}`));
      return;
    }
    const total = end + HEADER_END.length + Number(length);
    if (this.received.length < total) return;
    const status = Number(head.slice(9, 12));
    if (status >= 400) {
      this.failed?.(new Error(`An answer that tells of a failure:\n${this.received.toString()}`));
      return;
    }
    this.received = this.received.subarray(total);
    this.answered?.(status);
  }
}

function toText({ method, path, authorization, body }: RequestTemplate): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: keep-alive'];
  if (authorization !== undefined) lines.push(`Authorization: ${authorization}`);
  if (body === undefined) return `${lines.join('\r\n')}\r\n\r\n`;
  lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

let serial = 0;

/** Returns the requests in turn, with `{n}` in a body replaced by a new number each time. */
function nextRequest(requests: readonly RequestTemplate[]): string {
  const template = requests[serial % requests.length];
  serial += 1;
  if (template === undefined) throw new Error('There is nothing to send.');
  const { body } = template;
  return toText(
    body === undefined ? template : { ...template, body: body.replaceAll('{n}', String(serial)) },
  );
}

/** Sends a request as soon as the previous response has arrived. Counts requests that end after `warmUpMs`. */
async function sendAtFullSpeed(
  connections: readonly Connection[],
  { requests, durationMs, warmUpMs }: LoadJob,
): Promise<LoadResult> {
  const startsAt = performance.now() + warmUpMs;
  const endsAt = startsAt + durationMs;
  const lengthsMs: number[] = [];
  await Promise.all(
    connections.map(async (connection) => {
      for (let now = performance.now(); now < endsAt;) {
        const sentAt = now;
        await connection.send(nextRequest(requests));
        now = performance.now();
        if (now >= startsAt && now < endsAt) lengthsMs.push(now - sentAt);
      }
    }),
  );
  const answers = lengthsMs.length;
  return {
    answers,
    p99Ms: percentile(lengthsMs, 0.99),
    perSecond: (answers * 1_000) / durationMs,
  };
}

/** Sends at a fixed rate, even if responses arrive more slowly. */
async function sendAtRate(
  connections: readonly Connection[],
  { requests, durationMs }: LoadJob,
  perSecond: number,
): Promise<LoadResult> {
  const idle = [...connections];
  const inFlight = new Set<Promise<void>>();
  const startedAt = performance.now();
  const count = Math.floor((durationMs / 1_000) * perSecond);
  let sent = 0;
  while (sent < count) {
    const due = Math.min(count, Math.floor(((performance.now() - startedAt) / 1_000) * perSecond));
    for (; sent < due && idle.length > 0; sent += 1) {
      const connection = idle.pop();
      if (connection === undefined) break;
      const request = connection.send(nextRequest(requests)).then(() => {
        idle.push(connection);
        inFlight.delete(request);
      });
      inFlight.add(request);
    }
    await pause(2);
  }
  await Promise.all(inFlight);
  return {
    answers: count,
    p99Ms: null,
    perSecond: (count * 1_000) / (performance.now() - startedAt),
  };
}

answerJobs(async (job: LoadJob): Promise<LoadResult> => {
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => open(job.port)),
  );
  try {
    return job.perSecond === undefined
      ? await sendAtFullSpeed(connections, job)
      : await sendAtRate(connections, job, job.perSecond);
  } finally {
    for (const connection of connections) connection.close();
  }
});

function open(port: number): Promise<Connection> {
  return new Promise((opened, failed) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', failed);
    socket.once('connect', () => opened(new Connection(socket)));
  });
}
