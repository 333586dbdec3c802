import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database, isOutage, OutcomeUnknownError } from '../../../platform/database';
import type { OnBusy } from '../store/usage-streams';
import { WindowChanges } from '../store/window-changes';
import {
  afterFailure,
  type AppendOutcome,
  type FastPathOutcome,
  splitByRequest,
  withoutBusy,
} from './append-outcome';
import { CLASSIFY_ONLY, fastPathAppend, ON_PARAMETERS, type PreparedStatement } from './append-sql';
import { ArchivedKeys } from './archived-keys';
import { FastPathBatch, type FastPathRequest } from './fast-path-request';
import { StreamCache } from './stream-cache';

const NOTHING_STORED: AppendOutcome = { accepted: 0, notStored: [] };

interface FastPathResult {
  readonly accepted: number;
  /**
   * For each stream (one customer, one event name), the number of its last event before the append, or null if the
   * stream was skipped. The whole list is null if all events were stored.
   */
  readonly positions: readonly (string | null)[] | null;
  /** Numbers, from 1, of the streams whose cached version was current; null if no stream was skipped. */
  readonly current: readonly number[] | null;
}

type NotStored = AppendOutcome['notStored'];

interface Classified {
  readonly notStored: NotStored;
  /** Error that prevented duplicates and refusals from being counted; null if there was none. */
  readonly failure: unknown;
}

/**
 * Fast path of ingest: stores and counts events with one statement, using cached ids and versions of their streams (one
 * customer, one event name). The statement usually commits by itself. If an event may be in a registered window (a
 * period with running totals of its own), one transaction contains the statement and the usage hooks (callbacks of
 * other modules).
 */
@Injectable()
export class FastPathAppend {
  constructor(
    private readonly database: Database,
    private readonly cache: StreamCache,
    private readonly archivedKeys: ArchivedKeys,
    private readonly windows: WindowChanges,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores the events of requests, and returns the outcome of each request. Skips
   * - streams whose cached version is outdated;
   * - streams that another transaction has locked, if `onBusy` is not `wait`;
   * - all streams, if the state of one was cached before the process's database session last changed.
   *
   * If the reasons why events were not stored cannot be read after the commit, only the requests with these events
   * fail.
   */
  async append(
    requests: readonly FastPathRequest[],
    onBusy: OnBusy = 'skip',
  ): Promise<readonly FastPathOutcome[]> {
    const batch = new FastPathBatch(requests);
    const now = this.clock.now();
    const statement = fastPathAppend(onBusy, {
      hasArchive: await this.archivedKeys.mayExist(),
      hasWindows: batch.hasWindows,
    });
    const result = await (batch.hasWindows
      ? this.database.transaction(() => this.storeInWindows(statement, batch, now))
      : this.database.autocommit(() => this.store(statement, batch, now)));
    if (result === null) return requests.map(() => 'outdated');
    const { notStored, failure } = await this.notStored(batch, now, result);
    const outcomes = splitByRequest(requests, notStored);
    const current = result.current === null ? null : new Set(result.current);
    if (current !== null) for (const name of batch.namesWithout(current)) this.cache.forget(name);
    return requests.map((request, index) => {
      const outcome = outcomes[index] ?? NOTHING_STORED;
      const failed = failure === null ? null : afterFailure(outcome, failure);
      if (failed !== null || current === null) return failed ?? outcome;
      const reason = batch.isWithin(index, current) ? 'busy' : 'outdated';
      return withoutBusy(request.events, outcome, reason);
    });
  }

  /**
   * Stores the events of a batch. If the state of a stream was cached before the process's database session last
   * changed, stores nothing and returns null.
   */
  private async store(
    { name, sql }: PreparedStatement,
    batch: FastPathBatch,
    now: Date,
  ): Promise<FastPathResult | null> {
    const streams = batch.requests.flatMap((request) => request.streams);
    if (!streams.every(({ cached }) => this.cache.isOfSession(cached))) return null;
    const [result] = await this.database.queryPrepared<FastPathResult>(
      name,
      sql,
      batch.appendParameters(now),
    );
    invariant(result !== undefined, 'The statement that stores usage returns a row.');
    return result;
  }

  private async storeInWindows(
    statement: PreparedStatement,
    batch: FastPathBatch,
    now: Date,
  ): Promise<FastPathResult | null> {
    const result = await this.store(statement, batch, now);
    if (result !== null && result.accepted > 0)
      await this.windows.report(batch.changedStreams(result.positions));
    return result;
  }

  private async notStored(
    batch: FastPathBatch,
    now: Date,
    { accepted, positions }: FastPathResult,
  ): Promise<Classified> {
    if (positions === null) return { notStored: [], failure: null };
    const notTried = batch.notTried(positions);
    if (accepted + notTried.length === batch.length) {
      return { notStored: notTried.map((index) => ({ index, result: 'busy' })), failure: null };
    }
    const parameters = batch.classifyParameters(now, positions);
    const classified = await this.classify(parameters, accepted > 0);
    invariant(
      classified.notStored.length === batch.length - accepted,
      'Each event that was not stored has a result.',
    );
    return classified;
  }

  /**
   * Determines why events were not stored, and counts duplicates and refusals.
   * @param isCommitted true if other events were stored. If counting then fails, reads the reasons without counting,
   *   and returns the error as `failure`
   * @throws {OutcomeUnknownError} if other events were stored, but the reasons cannot be read
   */
  private async classify(
    parameters: readonly unknown[],
    isCommitted: boolean,
  ): Promise<Classified> {
    const read = (sql: string) =>
      this.database.autocommit(() => this.database.query<NotStored[number]>(sql, parameters));
    try {
      return { notStored: await read(ON_PARAMETERS.classify), failure: null };
    } catch (failure) {
      if (!isCommitted) throw failure;
      const unknown = new OutcomeUnknownError(failure);
      if (isOutage(failure)) throw unknown;
      const notStored = await read(CLASSIFY_ONLY).catch(() => Promise.reject(unknown));
      return { notStored, failure };
    }
  }
}
