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

/** Row that the statement of {@link fastPathAppend} returns. */
interface FastPathResult {
  readonly accepted: number;
  /**
   * Null if all events were stored. Otherwise, for each stream, its last position before the append, or null if the
   * append skipped the stream.
   */
  readonly positions: readonly (string | null)[] | null;
  /** If a stream was skipped: numbers of the streams whose cached version is current; otherwise null. */
  readonly current: readonly number[] | null;
}

type NotStored = AppendOutcome['notStored'];

interface Classified {
  readonly notStored: NotStored;
  /** Error that prevented the events from being counted as duplicates or refusals; null if there was none. */
  readonly failure: unknown;
}

/**
 * Fast path of ingest: stores and counts events with one statement. Takes the id and version of each stream from the
 * cache. Usually the statement commits by itself. If an event may be in a registered window (a period with running
 * totals of its own), the statement shares a transaction with the hooks that other modules have registered for such
 * usage.
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
   * Stores the events of requests, and returns the outcome of each request. Skips events of streams whose cached
   * version is outdated or, with `skip`, of streams that another transaction has locked. If it cannot be determined
   * after the commit why events were not stored, only the requests with such events fail.
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

  private async store(
    { name, sql }: PreparedStatement,
    batch: FastPathBatch,
    now: Date,
  ): Promise<FastPathResult> {
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
  ): Promise<FastPathResult> {
    const result = await this.store(statement, batch, now);
    if (result.accepted > 0) await this.windows.report(batch.changedStreams(result.positions));
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
   * @param isCommitted true if other events were stored. If counting then fails, the reasons are read without counting,
   *   and the error is returned as `failure`
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
