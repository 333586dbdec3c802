import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { MetersService } from '../../meters';
import { ArchivedUsage } from '../archive/archived-usage';
import { type MeterBackfill, MeterBackfillsRepository } from './meter-backfills.repository';
import { ingestingTransactions, tryLockIngest } from './meter-locks';
import { UsageStreams } from './usage-streams';
import { type StreamHours, UsageTotalsWriter } from './usage-totals-writer';

/** Limits of one step. A step is one commit and locks the streams (one customer, one event name) that it counts. */
const EVENTS_PER_STEP = 5_000;
const STREAMS_PER_STEP = 100;

/** Statement timeout of a step. A step counts at least a whole hour of a stream, which may have very many events. */
const LONG_STEP = { statementMs: 600_000 };

const MAX_ID = '9223372036854775807';

/**
 * Result of a step.
 * - `none`: there is no backfill, or other processes have locked all backfills.
 * - `waiting`: a transaction is still storing events. It began before the commit of the meter, so it may not see the
 *   meter.
 * - `done`: a step ran.
 * - `failed`: a step failed. It is repeated later, after steps of other backfills.
 */
export type StepResult = 'none' | 'waiting' | 'done' | 'failed';

/**
 * Counts events that were stored before their meter was created (backfill), in steps, while ingest continues (decision
 * 42). A step is one commit: it locks some streams (one customer, one event name), counts their events in a range of
 * hours, and stores its progress. Transactions that see the new meter count their events themselves.
 */
@Injectable()
export class BackfillMeters {
  private readonly logger = new Logger('meter-backfills');

  constructor(
    private readonly database: Database,
    private readonly meters: MetersService,
    private readonly backfills: MeterBackfillsRepository,
    private readonly streams: UsageStreams,
    private readonly totals: UsageTotalsWriter,
    private readonly archivedUsage: ArchivedUsage,
  ) {}

  /**
   * Tries to lock all streams of an event name until the transaction ends. Never waits. Returns the locked streams, or
   * null if a new meter needs a backfill:
   * - the streams or their events are too many for one step;
   * - another transaction has locked one of the streams;
   * - another transaction is storing events with this name.
   */
  async tryLockAll(eventName: string): Promise<readonly string[] | null> {
    if ((await this.allOfOneStep(eventName)) === null) return null;
    if (!(await tryLockIngest(this.database, eventName))) return null;
    // Reads again, because other transactions may have stored events before ingest was locked.
    const ids = await this.allOfOneStep(eventName);
    if (ids === null) return null;
    const locked = await this.streams.lockFree(ids);
    return locked.length === ids.length ? ids : null;
  }

  /** Returns all streams of an event name; null if they exceed the limits of one step. */
  private async allOfOneStep(eventName: string): Promise<readonly string[] | null> {
    const range = { from: '0', to: MAX_ID, limit: STREAMS_PER_STEP + 1 };
    const streams = await this.backfills.streamsOf(eventName, range, EVENTS_PER_STEP);
    const events = streams.reduce((sum, stream) => sum + stream.events, 0);
    if (streams.length > STREAMS_PER_STEP || events > EVENTS_PER_STEP) return null;
    return streams.map(({ id }) => id);
  }

  /** Runs a step of the backfill with the fewest attempted steps. If the step fails, logs the error. */
  async runStep(): Promise<StepResult> {
    const claimed: string[] = [];
    try {
      return await this.database.transaction(async () => {
        const backfill = await this.backfills.lockNext();
        if (backfill === null) return 'none';
        claimed.push(backfill.meterId);
        return this.step(backfill);
      });
    } catch (error) {
      const meterId = claimed.at(-1);
      if (meterId === undefined) throw error;
      this.logger.error({ err: error, meter_id: meterId }, 'a step of a backfill failed');
      await this.backfills.postpone(meterId);
      return 'failed';
    }
  }

  private async step(backfill: MeterBackfill): Promise<StepResult> {
    const { meterId } = backfill;
    const { eventName } = await this.meters.get(meterId);
    const current = await this.withLastStream(backfill, eventName);
    if (current.lastStreamId === null) {
      await this.backfills.advance(current);
      return 'waiting';
    }
    const next = await this.lockNextStreams(current, eventName, current.lastStreamId);
    if (next === 'none') {
      await this.meters.activate(
        meterId,
        await this.archivedUsage.archiveEndOfEventName(eventName),
      );
      await this.backfills.remove(meterId);
      return 'done';
    }
    await this.database.setTransactionTimeouts(LONG_STEP);
    if (next.streams.length > 0) {
      await this.totals.recount(meterId, next);
      await this.meters.addBackfillCounted(meterId, await this.backfills.countEvents(next));
    }
    await this.backfills.advance(after(current, next));
    return 'done';
  }

  /**
   * Determines the last stream that the backfill counts. `lastStreamId` stays null until all transactions that may
   * store events without seeing the meter have ended. Events of later streams are counted when they are stored.
   */
  private async withLastStream(backfill: MeterBackfill, eventName: string): Promise<MeterBackfill> {
    if (backfill.lastStreamId !== null) return backfill;
    const ingesting = await ingestingTransactions(this.database, eventName);
    const older = backfill.olderTransactions ?? ingesting;
    const remaining = older.filter((id) => ingesting.includes(id));
    if (remaining.length > 0) return { ...backfill, olderTransactions: remaining };
    const { lastStreamId, events } = await this.backfills.extentOf(eventName);
    await this.meters.setBackfillTotal(backfill.meterId, events);
    return { ...backfill, olderTransactions: [], lastStreamId };
  }

  /**
   * Locks the streams of the next step, and returns them with the hours to count. Returns `none` if all streams are
   * counted. Waits only for the first stream. Ends before the first of the other streams that another transaction has
   * locked.
   */
  private async lockNextStreams(
    { nextStreamId, nextHour }: MeterBackfill,
    eventName: string,
    lastStreamId: string,
  ): Promise<StreamHours | 'none'> {
    const range = { from: nextStreamId, to: lastStreamId, limit: STREAMS_PER_STEP };
    const streams = await this.backfills.streamsOf(eventName, range, EVENTS_PER_STEP);
    const [first] = streams;
    if (first === undefined) return 'none';
    const from = first.id === nextStreamId ? nextHour : null;
    if (from !== null || first.events > EVENTS_PER_STEP) {
      const locked = await this.streams.lockUntilBusy([first.id]);
      // The stream was purged with its test clock; the next step does not find it.
      if (locked.length === 0) return { streams: [], from: null, to: null };
      const to = await this.backfills.endOfHours(first.id, from, EVENTS_PER_STEP);
      return { streams: locked, from, to };
    }
    let events = 0;
    const wanted = streams.filter((stream) => (events += stream.events) <= EVENTS_PER_STEP);
    const locked = await this.streams.lockUntilBusy(wanted.map(({ id }) => id));
    return { streams: locked, from: null, to: null };
  }
}

function after(backfill: MeterBackfill, { streams, to }: StreamHours): MeterBackfill {
  const last = streams.at(-1);
  if (last === undefined) return backfill;
  if (to !== null) return { ...backfill, nextStreamId: last, nextHour: to };
  return { ...backfill, nextStreamId: (BigInt(last) + 1n).toString(), nextHour: null };
}
