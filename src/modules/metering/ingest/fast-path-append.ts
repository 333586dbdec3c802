import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { type AppendOutcome, type NotTried, splitByRequest } from './append-outcome';
import { FAST_PATH_APPEND, ON_PARAMETERS } from './append-sql';
import { FastPathBatch, type FastPathRequest } from './fast-path-request';
import { StreamCache } from './stream-cache';

/** Result of {@link FAST_PATH_APPEND}. */
interface FastPathResult {
  readonly accepted: number;
  /** Last position of each stream before the append; null if nothing was stored. */
  readonly positions: readonly string[] | null;
  /** If nothing was stored: numbers of the streams that could be locked. */
  readonly locked: readonly number[] | null;
  /** If nothing was stored: numbers of the streams whose cached version is current. */
  readonly unchanged: readonly number[] | null;
}

/** Fast path of ingest: stores and counts events with one autocommitted statement, based on cached stream state. */
@Injectable()
export class FastPathAppend {
  constructor(
    private readonly database: Database,
    private readonly cache: StreamCache,
    private readonly clock: Clock,
  ) {}

  /** Returns the outcome of each request, or why it was not tried. */
  async append(
    requests: readonly FastPathRequest[],
  ): Promise<readonly (AppendOutcome | NotTried)[]> {
    const batch = new FastPathBatch(requests);
    const now = this.clock.now();
    const [result] = await this.database.autocommit(() =>
      this.database.prepared<FastPathResult>(
        'usage-fast-path',
        FAST_PATH_APPEND,
        batch.appendParameters(now),
      ),
    );
    invariant(result !== undefined, 'The statement that stores usage returns a row.');
    const { accepted, positions } = result;
    if (positions === null) return this.retryLockable(batch, result);
    const notStored = accepted === batch.length ? [] : await this.classify(batch, now, positions);
    invariant(
      notStored.length === batch.length - accepted,
      'Each event that was not stored has a result.',
    );
    return splitByRequest(requests, notStored);
  }

  /** Tries the requests again whose streams could all be locked. */
  private async retryLockable(
    batch: FastPathBatch,
    { locked, unchanged }: FastPathResult,
  ): Promise<readonly (AppendOutcome | NotTried)[]> {
    const current = new Set(unchanged);
    for (const name of batch.namesWithout(current)) this.cache.forget(name);
    const lockable = new Set(locked);
    const free = batch.requests.filter((request) => batch.isWithin(request, lockable));
    const outcomes = free.length === 0 ? [] : await this.append(free);
    const outcomeOf = new Map(free.map((request, index) => [request, outcomes[index]]));
    return batch.requests.map(
      (request) =>
        outcomeOf.get(request) ?? (batch.isWithin(request, current) ? 'busy' : 'outdated'),
    );
  }

  private classify(
    batch: FastPathBatch,
    now: Date,
    positions: readonly string[],
  ): Promise<AppendOutcome['notStored'][number][]> {
    const parameters = batch.classifyParameters(now, positions);
    return this.database.autocommit(() => this.database.query(ON_PARAMETERS.classify, parameters));
  }
}
