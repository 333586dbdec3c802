import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { Database, poolUseOf } from '../database';

/** Time after a request (not a health probe) during which background work runs only one piece at a time. */
const RECENT_MS = 1_000;

/** Metrics of the process, shared by all its Nest applications, because their collectors run until the process ends. */
let processRegistry: Registry | null = null;

function metricsOfProcess(): Registry {
  if (processRegistry !== null) return processRegistry;
  processRegistry = new Registry();
  collectDefaultMetrics({ register: processRegistry });
  return processRegistry;
}

/** Metrics of the process and of one Nest application. (Tests start several applications in one process.) */
@Injectable()
export class Metrics {
  readonly registry = Registry.merge([metricsOfProcess()]);

  private readonly requestSeconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from request to answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });

  private lastRequestAt = Number.NEGATIVE_INFINITY;

  constructor(database: Database, dataSource: DataSource) {
    database.turns.takeTurnsWhile(() => performance.now() - this.lastRequestAt < RECENT_MS);
    this.measurePool(dataSource);
  }

  /**
   * Middleware that measures requests by route. It does not measure by path, because each id in a path would create a
   * series.
   */
  readonly measure = (request: Request, response: Response, next: NextFunction): void => {
    const startedAt = performance.now();
    if (!request.originalUrl.startsWith('/health/')) this.lastRequestAt = startedAt;
    response.on('finish', () => {
      const route = (request.route as { readonly path?: unknown } | undefined)?.path;
      this.requestSeconds.observe(
        {
          method: request.method,
          route: typeof route === 'string' ? route : 'unmatched',
          status: String(response.statusCode),
        },
        (performance.now() - startedAt) / 1_000,
      );
    });
    next();
  };

  private measurePool(dataSource: DataSource): void {
    new Gauge({
      name: 'database_connections',
      help: 'Connections of the pool by state; waiting counts callers that wait for one.',
      labelNames: ['state'] as const,
      registers: [this.registry],
      collect() {
        const { busy, idle, waiting } = poolUseOf(dataSource);
        this.set({ state: 'busy' }, busy);
        this.set({ state: 'idle' }, idle);
        this.set({ state: 'waiting' }, waiting);
      },
    });
  }
}
