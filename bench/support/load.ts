/** What the load generator is told, and what it tells. */

export interface RequestTemplate {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  /** `{n}` becomes a number that is another one in each request. */
  readonly body?: string;
}

export interface LoadJob {
  readonly port: number;
  readonly connections: number;
  readonly requests: readonly RequestTemplate[];
  readonly durationMs: number;
  /** Sent before, and not counted. */
  readonly warmUpMs: number;
  /** Left out: as fast as the answers come. */
  readonly perSecond?: number;
}

export interface LoadResult {
  readonly answers: number;
  /** Within how long 99 of 100 answers came; null where they were not timed. */
  readonly p99Ms: number | null;
  readonly perSecond: number;
}
