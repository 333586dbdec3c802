import { createHash, type Hash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { earliest, type Period } from '../../../core/time';
import { Clock } from '../../../platform/clock';
import { Configuration } from '../../../platform/config';
import { Database, keptFrom } from '../../../platform/database';
import { monthOf } from '../domain/archived-month';
import { digestKeys } from '../store/digest-keys';
import { UsageStreams } from '../store/usage-streams';
import { ArchiveDirectory } from './archive-directory';
import { ArchiveMetrics } from './archive-metrics';
import {
  type ArchivedEvent,
  type ArchiveProgress,
  type StreamToArchive,
  UsageArchiveRepository,
  type WrittenMonth,
} from './usage-archive.repository';

/** Maximum number of events in a file. The worker holds them in memory. */
const EVENTS_PER_FILE = 10_000;
const STREAMS_PER_STEP = 2_000;
const DAY_MS = 86_400_000;
/**
 * Time for which one written test file proves that a folder can be written. Without this time, every step would write a
 * test file, even a step that closes no month.
 */
const TEST_EVERY_MS = 600_000;

/**
 * Statement timeout for the last step of a month of a stream that fills several files. This step reads the keys of all
 * events of the month again.
 */
const LONG_STEP = { statementMs: 600_000 };

/**
 * Month that the caller must close for these streams. A stream is the events of one name of one customer. Once the
 * month is closed, none of its events in these streams can be stored or voided. The streams are ordered by id.
 */
export interface MonthToClose {
  readonly progress: ArchiveProgress;
  readonly month: Period;
  readonly streams: readonly StreamToArchive[];
}

/** Result of a step. `none`: there is nothing to do now. {@link MonthToClose}: the caller must close this month. */
export type ArchiveStep = 'none' | 'done' | MonthToClose;

/**
 * Writes events that are older than the retention period to files, month by month, in steps. Each step locks the row
 * with the progress, so that only one worker archives at a time. A month is closed before it is written: from then on,
 * none of its events can be stored or voided. A step that is repeated after an interruption therefore writes the same
 * file. `RemoveArchivedUsage` deletes the events from the database later.
 */
@Injectable()
export class ArchiveUsage {
  private readonly logger = new Logger('usage-archive');
  /** Month and time of the last test file that was written; null before the first one. */
  private tested: { readonly month: Date; readonly at: Date } | null = null;

  constructor(
    private readonly database: Database,
    private readonly archive: UsageArchiveRepository,
    private readonly streams: UsageStreams,
    private readonly configuration: Configuration,
    private readonly metrics: ArchiveMetrics,
    private readonly clock: Clock,
  ) {}

  /** Runs the next step in the caller's transaction, or returns a month that the caller must pass to {@link close}. */
  async archiveNext(now: Date): Promise<ArchiveStep> {
    const { usageArchive } = this.configuration;
    if (usageArchive === null) return 'none';
    const progress = await this.archive.lock();
    if (progress === null) return 'none';
    const directory = new ArchiveDirectory(usageArchive.directory);
    await directory.requireMounted(await this.archive.lastFileOfNewestMonth());
    // A backfill counts stored events, but no events of written months. No month is therefore written while a backfill
    // runs.
    if (await this.archive.isBackfilling()) return 'none';
    if (progress.streams.length > 0) {
      await this.write(progress, directory);
      return 'done';
    }
    const current = currentOrNewSearch(progress, keptFrom(now, usageArchive.retentionMonths), now);
    return current === null ? 'none' : this.find(current, now, directory);
  }

  /**
   * Closes a month of streams in the transaction of {@link archiveNext}. A stream is the events of one name of one
   * customer. After the commit, no event of the month can be stored or voided in these streams. Skips streams whose
   * month may still contain unbilled usage.
   * @param openSince returns the start of the earliest unbilled usage of each customer who has any, by customer id.
   *   Called after the streams are locked: from then on, nothing can bill or open a period that needs events of the
   *   month
   */
  async close(
    { progress, month, streams }: MonthToClose,
    openSince: (customerIds: readonly string[]) => Promise<ReadonlyMap<string, Date>>,
  ): Promise<void> {
    const locked = await this.streams.lockUntilBusy(streams.map(({ id }) => id));
    const afterLocked =
      locked.length < streams.length ? (locked.at(-1) ?? '0') : progress.lastStreamId;
    const open = await openSince(streams.map(({ customerId }) => customerId));
    const customers = new Map(streams.map(({ id, customerId }) => [id, customerId]));
    const isOver = (id: string) =>
      (open.get(customers.get(id) ?? '') ?? month.endAt) >= month.endAt;
    const ended = locked.filter(isOver);
    const closable = await this.archive.closable(ended, month, progress.beforeAt, EVENTS_PER_FILE);
    // More events may have been stored since the streams were found.
    const portion = portionOf(closable);
    const isCut = portion.length < closable.length;
    const lastStreamId = (isCut ? portion.at(-1)?.id : undefined) ?? afterLocked;
    const fileNumber = await this.archive.nextFile(month.startAt);
    if (portion.length > 0) await this.archive.close(portion, month, fileNumber);
    // The search saw only the earliest month of each stream, so it must also read the next month of these streams.
    const following = month.endAt < progress.beforeAt && portion.length > 0 ? month.endAt : null;
    await this.archive.advance({
      ...progress,
      nextMonth: earliest([progress.nextMonth, following]),
      lastStreamId,
      streams: portion.map(({ id }) => id),
      fileNumber,
    });
  }

  /**
   * Narrows down which stream prevents a file from being written. A stream is the events of one name of one customer.
   * Each call keeps the first half of the streams for the file, and leaves the second half to later steps. Once a
   * single stream is left, the call skips it until the next daily search, which writes all files of its month again.
   * Call this after a file could not be written.
   * @param error why the file could not be written
   * @returns false if no file was being written, or if another worker has locked the archive
   */
  skipFailing(error: unknown): Promise<boolean> {
    return this.database.transaction(async () => {
      const progress = await this.archive.lock();
      const [first, ...others] = progress?.streams ?? [];
      if (progress === null || first === undefined) return false;
      const streams = progress.streams.slice(0, Math.ceil(others.length / 2));
      const lastStreamId = streams.at(-1) ?? first;
      await this.archive.advance({
        ...progress,
        lastStreamId,
        streams,
        afterAt: null,
        afterKey: null,
      });
      const { month } = progress;
      if (others.length === 0 && month !== null) {
        await this.archive.deleteFiles(first, month);
        this.logger.error(
          { err: error, stream: first, month },
          'usage events of a month cannot be archived',
        );
      }
      return true;
    });
  }

  /**
   * Searches the next streams for events of the month that is being archived. Returns the month to close, with the
   * streams that have such events. If no stream has any, records the progress and returns `done`.
   * @throws {Error} if a test file cannot be written. The test comes before the month is closed, because a closed month
   *   cannot be reopened. It comes before streams are locked, because ingest waits for these locks
   */
  private async find(
    progress: ArchiveProgress,
    now: Date,
    directory: ArchiveDirectory,
  ): Promise<ArchiveStep> {
    const found = await this.archive.nextStreams(progress, STREAMS_PER_STEP, EVENTS_PER_FILE);
    const last = found.at(-1);
    if (last === undefined) {
      await this.archive.advance(afterMonth(progress, now));
      return 'done';
    }
    const { month } = progress;
    const nextMonth = earliest([
      progress.nextMonth,
      ...found
        .map((stream) => stream.month)
        .filter((one) => one !== null && (month === null || one > month)),
    ]);
    const ofMonth = found.filter((stream) => stream.month?.getTime() === month?.getTime());
    const streams = month === null ? [] : portionOf(ofMonth);
    const isCut = streams.length < ofMonth.length;
    const lastStreamId = (isCut ? streams.at(-1)?.id : undefined) ?? last.id;
    const current = { ...progress, nextMonth, lastStreamId };
    if (month === null || streams.length === 0) {
      await this.archive.advance(current);
      return 'done';
    }
    await this.requireWritable(month, now, directory);
    return { progress: current, month: monthOf(month), streams };
  }

  private async requireWritable(
    month: Date,
    now: Date,
    directory: ArchiveDirectory,
  ): Promise<void> {
    const { tested } = this;
    if (
      tested?.month.getTime() === month.getTime() &&
      now.getTime() - tested.at.getTime() < TEST_EVERY_MS
    ) {
      return;
    }
    await directory.requireWritable(month);
    this.tested = { month, at: now };
  }

  /** Writes the next file of the closed streams. After the last file, records that the month is archived. */
  private async write(progress: ArchiveProgress, directory: ArchiveDirectory): Promise<void> {
    invariant(progress.month !== null, 'Closed streams have a month.');
    const month = monthOf(progress.month);
    const events = await this.archive.events(progress, month, EVENTS_PER_FILE);
    const last = events.at(-1);
    const { fileNumber } = progress;
    if (last !== undefined) {
      const file = await directory.write(month.startAt, fileNumber, events.map(lineOf));
      const row = { ...file, writtenAt: this.clock.now(), verifiedAt: null };
      await this.archive.recordFile(
        row,
        events.map(({ keyDigest }) => keyDigest),
      );
      this.database.afterCommit(() => {
        this.metrics.archived.inc(file.events);
      });
      this.logger.log({ file: file.name, events: file.events }, 'archived usage events');
    }
    const lastFile = last === undefined ? fileNumber - 1 : fileNumber;
    const current = { ...progress, fileNumber: lastFile + 1 };
    if (progress.streams.length === 1 && events.length === EVENTS_PER_FILE && last !== undefined) {
      const { timestamp: afterAt, idempotencyKey: afterKey } = last;
      await this.archive.advance({ ...current, afterAt, afterKey });
      return;
    }
    const written = await this.writtenMonths(progress, month, events);
    await this.archive.finishMonths(written, month.startAt, lastFile, this.clock.now());
    await this.archive.advance({ ...current, streams: [], afterAt: null, afterKey: null });
  }

  private async writtenMonths(
    { streams, afterAt }: ArchiveProgress,
    month: Period,
    events: readonly ArchivedEvent[],
  ): Promise<readonly WrittenMonth[]> {
    const [only] = streams;
    if (afterAt === null || only === undefined) {
      const isComplete = streams.length === 1 || events.length <= EVENTS_PER_FILE;
      invariant(isComplete, 'The events of several streams fit into a file.');
      return countsOf(streams, events);
    }
    await this.database.setTransactionTimeouts(LONG_STEP);
    const { digest } = await digestKeys(this.database, only, month);
    return [{ ...(await this.archive.count(only, month)), digest }];
  }
}

/**
 * Returns the progress of the running search. If none is running, returns the progress of a new search, or null if no
 * new search is due yet. If the retention period became longer during a search, the search continues with the longer
 * one.
 * @param beforeAt start of the present retention period
 */
function currentOrNewSearch(
  progress: ArchiveProgress,
  beforeAt: Date,
  now: Date,
): ArchiveProgress | null {
  const { endedAt } = progress;
  if (endedAt === null) return beforeAt < progress.beforeAt ? { ...progress, beforeAt } : progress;
  const isDue = beforeAt > progress.beforeAt || now.getTime() - endedAt.getTime() >= DAY_MS;
  if (!isDue) return null;
  return { ...progress, beforeAt, month: null, lastStreamId: '0', nextMonth: null, endedAt: null };
}

/**
 * Returns the progress after all streams were searched for a month. Continues with the next month that has events. Ends
 * the search if there is none.
 */
function afterMonth(progress: ArchiveProgress, now: Date): ArchiveProgress {
  const { month, nextMonth, beforeAt } = progress;
  const keptFromAt = month === null ? (nextMonth ?? beforeAt) : progress.keptFromAt;
  if (nextMonth === null) return { ...progress, keptFromAt, endedAt: now };
  return { ...progress, keptFromAt, month: nextMonth, lastStreamId: '0', nextMonth: null };
}

/**
 * Returns the first streams whose events together fit into one file. Returns at least one stream, even if it is too
 * large.
 */
function portionOf<Stream extends Pick<StreamToArchive, 'events'>>(
  streams: readonly Stream[],
): readonly Stream[] {
  let events = 0;
  const fitting = streams.findIndex((one) => (events += Number(one.events)) > EVENTS_PER_FILE);
  return fitting === -1 ? streams : streams.slice(0, Math.max(fitting, 1));
}

/**
 * Counts the events of each stream, and computes the digest of their keys. The events must be ordered by stream,
 * timestamp and key.
 */
function countsOf(
  streams: readonly string[],
  events: readonly ArchivedEvent[],
): readonly WrittenMonth[] {
  const counts = new Map(
    streams.map((streamId) => [streamId, { events: 0, voided: 0, hash: createHash('sha256') }]),
  );
  for (const { streamId, idempotencyKey, voidedAt } of events) {
    const count: { events: number; voided: number; hash: Hash } | undefined = counts.get(streamId);
    invariant(count !== undefined, 'Events are those of the closed streams.');
    count.events += 1;
    if (voidedAt !== null) count.voided += 1;
    count.hash.update(`${idempotencyKey}\n`);
  }
  return [...counts].map(([streamId, { hash, ...count }]) => ({
    ...count,
    streamId,
    digest: hash.digest('hex'),
  }));
}

/** Returns an event as a line of a file. Fields that the client sent come before fields that the service added. */
function lineOf(event: ArchivedEvent): string {
  const reported = {
    idempotency_key: event.idempotencyKey,
    customer_id: event.customerId,
    event_name: event.eventName,
    timestamp: event.timestamp,
  };
  const stored = {
    position: Number(event.position),
    received_at: event.receivedAt,
    voided_at: event.voidedAt,
    voided_position: event.voidedPosition === null ? null : Number(event.voidedPosition),
  };
  const [head, tail] = [JSON.stringify(reported).slice(0, -1), JSON.stringify(stored).slice(1)];
  return `${head},"properties":${event.properties},${tail}`;
}
