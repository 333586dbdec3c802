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
