import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { operationOf, type Principal, principalOf } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { OutcomeUnknownError, type Page, type PageRequest } from '../../platform/database';
import { ANSWERED } from '../../platform/http';
import { AuditUsageRepository } from './audit-usage.repository';
import type { UsageCount } from './domain/audit-entry';

const WRITE_EVERY_MS = 10_000;
const HOUR_MS = 3_600_000;

/**
 * Counts accepted requests by caller and hour, for operations that are too frequent for audit entries. Adds the counts
 * to the database every 10 s and when the process stops. A killed process loses the counts of up to 10 s.
 */
@Injectable()
export class AuditUsageCounts
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Logger('audit-usage');
  private counts = new Map<string, UsageCount>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly repository: AuditUsageRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  /**
   * Writes the counts before Nest waits for open requests. After that wait, the process may end without another write.
   */
  beforeApplicationShutdown(): Promise<void> {
    return this.write();
  }

  /**
   * Writes the last counts, after all connections have ended. A request whose client disconnected may still run. That
   * request is not counted.
   */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.write();
  }

  /**
   * Returns a middleware that counts accepted requests for which `isCounted` is true. Does not count streamed
   * responses.
   */
  count(isCounted: (request: Request) => boolean) {
    return (request: Request, response: Response, next: NextFunction): void => {
      if (isCounted(request)) {
        response.once(ANSWERED, () => {
          if (response.statusCode < 400) this.add(principalOf(request), operationOf(request));
        });
      }
      next();
    };
  }

  list(request: PageRequest): Promise<Page<UsageCount>> {
    return this.repository.page(request);
  }

  /**
   * Adds the new counts to the counts in the database. If the write fails, keeps the counts for the next call. If the
   * outcome of the write is unknown, drops the counts, because otherwise requests could be counted twice.
   */
  async write(): Promise<void> {
    const counts = [...this.counts.values()];
    if (counts.length === 0) return;
    this.counts = new Map();
    try {
      await this.repository.add(counts);
    } catch (error) {
      if (error instanceof OutcomeUnknownError) {
        this.logger.warn({ err: error }, 'usage counts may not have been written');
        return;
      }
      this.logger.warn({ err: error }, 'usage counts were not written; they are tried again');
      for (const count of counts) this.addCount(count);
    }
  }

  private add({ kind, id }: Principal, operation: string): void {
    const hour = new Date(Math.floor(this.clock.now().getTime() / HOUR_MS) * HOUR_MS);
    this.addCount({ actorType: kind, actorId: id, operation, hour, requestCount: 1n });
  }

  private addCount(count: UsageCount): void {
    const key = `${count.actorId} ${count.operation} ${count.hour.getTime()}`;
    const requestCount = (this.counts.get(key)?.requestCount ?? 0n) + count.requestCount;
    this.counts.set(key, { ...count, requestCount });
  }
}
