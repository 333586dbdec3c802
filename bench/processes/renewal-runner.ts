import 'reflect-metadata';
import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { Client } from 'pg';
import type * as engine from '../../src/engine.module';
import type * as due from '../../src/modules/billing/subscriptions/due-subscriptions';
import type * as clock from '../../src/platform/clock';
import type * as config from '../../src/platform/config';
import { answerJobs } from '../support/channel';

/** A worker of the compiled service that runs everything that is due at an instant, and reports time and memory. */

export interface RenewalJob {
  readonly databaseUrl: string;
  readonly now: string;
  /** Folder for a CPU profile; null for none. */
  readonly profileDirectory: string | null;
  /** Largest number of batches to run. Without it, the run ends when nothing more is due. */
  readonly maxBatches?: number;
}

export interface RenewalRun {
  readonly statements: number;
  /** Total time between sending a statement and its answer. `claimMs` is the part for statements that claim due work. */
  readonly statementMs: number;
  readonly claimMs: number;
  readonly cpuMs: number;
  readonly rssMiB: number;
}

const compiled = createRequire(resolve('dist/src/main.js'));
const { EngineModule } = compiled('./engine.module') as typeof engine;
const { DueSubscriptions } = compiled(
  './modules/billing/subscriptions/due-subscriptions',
) as typeof due;
const { Clock } = compiled('./platform/clock') as typeof clock;
const { Configuration } = compiled('./platform/config') as typeof config;

type Query = (this: Client, ...given: unknown[]) => unknown;

let statements = 0;
let statementMs = 0;
let claimMs = 0;
const prototype = Client.prototype as unknown as { query: Query };
const original = prototype.query;
prototype.query = function query(this: Client, ...given: unknown[]): unknown {
  statements += 1;
  const answer = original.apply(this, given);
  if (answer instanceof Promise) void timed(answer, given[0]);
  return answer;
};

async function timed(answer: Promise<unknown>, sql: unknown): Promise<void> {
  const startedAt = performance.now();
  await answer.catch(() => undefined);
  const ms = performance.now() - startedAt;
  statementMs += ms;
  if (typeof sql === 'string' && sql.includes('UPDATE subscription SET lease_ends_at'))
    claimMs += ms;
}

let now = new Date(0);
let started: Promise<due.DueSubscriptions> | null = null;

async function start(databaseUrl: string): Promise<due.DueSubscriptions> {
  const configuration = new Configuration({ ...process.env, ROLE: 'api' });
  const context = await NestFactory.createApplicationContext(
    EngineModule.with(configuration, databaseUrl),
    { logger: false },
  );
  context.get(Clock).now = () => now;
  return context.get(DueSubscriptions);
}

async function profiled(job: RenewalJob, work: () => Promise<void>): Promise<void> {
  if (job.profileDirectory === null) return work();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  await work();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  const file = `renewals-${job.now.slice(0, 10)}-${process.pid}.cpuprofile`;
  await writeFile(join(job.profileDirectory, file), JSON.stringify(profile));
}

answerJobs(async (job: RenewalJob): Promise<RenewalRun> => {
  started ??= start(job.databaseUrl);
  const subscriptions = await started;
  now = new Date(job.now);
  [statements, statementMs, claimMs] = [0, 0, 0];
  const before = process.cpuUsage();
  await profiled(job, async () => {
    for (let batch = 0; batch < (job.maxBatches ?? Infinity); batch += 1) {
      if (!(await subscriptions.runDue())) break;
    }
  });
  const { user, system } = process.cpuUsage(before);
  return {
    statements,
    statementMs,
    claimMs,
    cpuMs: (user + system) / 1_000,
    rssMiB: process.resourceUsage().maxRSS / 1_024,
  };
});
