import { startWorker, type Worker } from './channel';
import type { Settings } from './rounds';

export const WARM_UP_MS = 500;

/** A request that the load generator repeats. */
export interface RequestTemplate {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly authorization?: string;
  /** `{n}` is replaced by a different number in each request. */
  readonly body?: string;
}

export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  readonly requests: readonly RequestTemplate[];
  readonly durationMs: number;
  /** Time in which requests are sent before the measurement. */
  readonly warmUpMs: number;
  /** Requests per second. If omitted, requests are sent as fast as responses arrive. */
  readonly perSecond?: number;
}

export interface LoadResult {
  readonly answers: number;
  /** Time within which 99 of 100 responses arrived; null if they were not timed. */
  readonly p99Ms: number | null;
  readonly perSecond: number;
}

export interface TimedLoad extends LoadResult {
  readonly p99Ms: number;
}

export type LoadGenerator = Worker<LoadJob, LoadResult>;

export function startLoadGenerator(): LoadGenerator {
  return startWorker('load-generator.ts');
}

/** Sends requests as fast as responses arrive, and returns the result of the time after the warm-up. */
export async function measureLoad(
  load: LoadGenerator,
  port: number,
  requests: readonly RequestTemplate[],
  { connections, seconds }: Settings,
): Promise<TimedLoad> {
  const times = { durationMs: seconds * 1_000, warmUpMs: WARM_UP_MS };
  const { p99Ms, ...result } = await load.request({ port, connections, requests, ...times });
  if (p99Ms === null) throw new Error('The answers were not timed.');
  return { ...result, p99Ms };
}
