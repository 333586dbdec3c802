import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { devNull } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { keepTrackOf, stopChild } from './channel';
import type { Settings } from './rounds';
import type { TemporaryDatabase } from './temporary-database';

export interface Service {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 120_000;

/** Environment of the service in every benchmark: production defaults, without log output. */
export function serviceEnvironment(database: TemporaryDatabase, port: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    NODE_ENV: 'production',
    PORT: String(port),
    DATABASE_URL: database.url,
    DATA_DIR: database.directory,
    LOG_LEVEL: 'info',
    WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true',
  };
}

/** Options of Node for a service, as in `npm start`. */
export const SERVICE_NODE_OPTIONS = ['--max-semi-space-size=32'];

/** Starts the compiled service as a process of its own, and waits until it is ready. */
export async function startService(
  database: TemporaryDatabase,
  { profileDirectory }: Pick<Settings, 'profileDirectory'>,
  environment: NodeJS.ProcessEnv = {},
): Promise<Service> {
  const nodeOptions =
    profileDirectory === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`];
  const port = await freePort();
  const log = openSync(devNull, 'w');
  const child = spawn(
    process.execPath,
    [...nodeOptions, ...SERVICE_NODE_OPTIONS, resolve('dist/src/main.js')],
    {
      env: { ...serviceEnvironment(database, port), ...environment },
      stdio: ['ignore', log, 'inherit'],
    },
  );
  closeSync(log);
  keepTrackOf(child);
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilReady(url, () => child.exitCode === null);
  } catch (error) {
    await stopChild(child);
    throw error;
  }
  return { url, port, pid: child.pid ?? 0, stop: () => stopChild(child) };
}

export async function untilReady(url: string, isAlive: () => boolean): Promise<void> {
  const givesUpAt = performance.now() + READY_WITHIN_MS;
  while (performance.now() < givesUpAt && isAlive()) {
    const answer = await fetch(`${url}/health/ready`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok === true) return;
    await pause(50);
  }
  throw new Error(`The service at ${url} did not get ready.`);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port is free.');
  return address.port;
}

/** Sends a JSON body and returns the body of the response. */
export async function post<Answer>(url: string, body: object): Promise<Answer> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`POST ${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Answer;
}

/** Creates resources, a few at a time, and returns their ids. */
export async function createMany(
  url: string,
  count: number,
  body: (index: number) => object,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let next = 0;
  const create = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      ids[index] = (await post<{ readonly id: string }>(url, body(index))).id;
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, 16) }, create));
  return ids;
}
