import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { MetersService } from '../../meters';
import { type MeterBackfill, MeterBackfillsRepository } from './meter-backfills.repository';
import { storingTransactions, tryHoldUsage } from './meters-lock';
import { type StreamHours, UsageTotalsWriter } from './usage-totals-writer';

/** Bounds of one step, and so of one commit, which holds the streams that it counts. */
const EVENTS_AT_ONCE = 5_000;
const STREAMS_AT_ONCE = 100;

/** One hour of one stream is counted by one step, however many events it has. */
const LONG_STEP = { statementMs: 600_000 };

const LAST_ID = '9223372036854775807';

/** `waiting`: transactions that do not see the meter have not ended yet. */
export type StepResult = 'none' | 'waiting' | 'done';

/**
 * Counts the events that were stored before a meter, in steps beside ingestion (decision 42). A step holds some streams,
 * counts all their events in a range of hours anew, and notes how far it is, in one commit. Appends count the events that
 * they store from the commit that makes the meter on.
 */
@Injectable()
export class BackfillMeters {
  constructor(
    private readonly database: Database,
    private readonly meters: MetersService,
    private readonly backfills: MeterBackfillsRepository,
    private readonly totals: UsageTotalsWriter,
  ) {}

  /**
   * Holds all streams of a name until the open transaction ends, if one step can count them and no other transaction holds
   * one of them or stores events of the name at the moment. Does not wait.
   * @returns the streams; null where a meter of the name needs a backfill
   */
  async tryHoldAll(eventName: string): Promise<readonly string[] | null> {
    const { events } = await this.backfills.extentOf(eventName);
    if (events > EVENTS_AT_ONCE) return null;
    if (!(await tryHoldUsage(this.database, eventName))) return null;
    // Again: events and streams may have been stored before storing was held.
    const streams = await this.backfills.streamsOf(eventName, {
      from: '0',
      to: LAST_ID,
      limit: STREAMS_AT_ONCE + 1,
    });
    const stored = streams.reduce((sum, stream) => sum + stream.events, 0);
    if (streams.length > STREAMS_AT_ONCE || stored > EVENTS_AT_ONCE) return null;
    const ids = streams.map(({ id }) => id);
    const held = await this.backfills.holdFree(ids);
    return held.size === ids.length ? ids : null;
  }

  /** Does one step of the backfill with the fewest steps. A step that does not commit leaves nothing and is done again. */
  async runStep(onFailure: (error: unknown, meterId: string) => void): Promise<StepResult> {
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
      onFailure(error, meterId);
      await this.backfills.postpone(meterId);
      return 'done';
    }
  }

  private async step(backfill: MeterBackfill): Promise<StepResult> {
    const { meterId } = backfill;
    const { eventName } = await this.meters.get(meterId);
    const begun = await this.begun(backfill, eventName);
    if (begun.lastStreamId === null) {
      await this.backfills.advance(begun);
      return 'waiting';
    }
    const next = await this.holdNext(begun, eventName, begun.lastStreamId);
    if (next === 'none') {
      await this.meters.activate(meterId);
      await this.backfills.remove(meterId);
      return 'done';
    }
    await this.database.allowLongWork(LONG_STEP);
    if (next.streams.length > 0) {
      await this.totals.recount(meterId, next);
      await this.meters.addBackfillCounted(meterId, await this.backfills.countEvents(next));
    }
    await this.backfills.advance(after(begun, next));
    return 'done';
  }

  /**
   * Fixes the streams to be counted once all transactions that may not see the meter have ended: streams that appear later
   * have only events that the meter counts.
   */
  private async begun(backfill: MeterBackfill, eventName: string): Promise<MeterBackfill> {
    if (backfill.lastStreamId !== null) return backfill;
    const storing = await storingTransactions(this.database, eventName);
    const older = backfill.olderTransactions ?? storing;
    const left = older.filter((id) => storing.includes(id));
    if (left.length > 0) return { ...backfill, olderTransactions: left };
    const { lastStreamId, events } = await this.backfills.extentOf(eventName);
    await this.meters.setBackfillTotal(backfill.meterId, events);
    return { ...backfill, olderTransactions: [], lastStreamId };
  }

  /** Holds the streams of the next step, and waits for the first of them alone. */
  private async holdNext(
    { nextStreamId, nextHour }: MeterBackfill,
    eventName: string,
    lastStreamId: string,
  ): Promise<StreamHours | 'none'> {
    const range = { from: nextStreamId, to: lastStreamId, limit: STREAMS_AT_ONCE };
    const streams = await this.backfills.streamsOf(eventName, range);
    const [first] = streams;
    if (first === undefined) return 'none';
    const from = first.id === nextStreamId ? nextHour : null;
    const isThere = await this.backfills.holdFirst(first.id);
    // Streams go with their test clock; the next step does not find it any more.
    if (!isThere) return { streams: [], from: null, to: null };
    if (from !== null || first.events > EVENTS_AT_ONCE) {
      const to = await this.backfills.endOfHours(first.id, from, EVENTS_AT_ONCE);
      return { streams: [first.id], from, to };
    }
    let events = 0;
    const wanted = streams.filter((stream) => (events += stream.events) <= EVENTS_AT_ONCE);
    const held = await this.backfills.holdFree(wanted.map(({ id }) => id));
    const busy = wanted.findIndex(({ id }) => !held.has(id));
    const free = busy === -1 ? wanted : wanted.slice(0, busy);
    return { streams: free.map(({ id }) => id), from: null, to: null };
  }
}

/** How far a backfill is when these hours are counted. */
function after(backfill: MeterBackfill, { streams, to }: StreamHours): MeterBackfill {
  const last = streams.at(-1);
  if (last === undefined) return backfill;
  if (to !== null) return { ...backfill, nextStreamId: last, nextHour: to };
  return { ...backfill, nextStreamId: (BigInt(last) + 1n).toString(), nextHour: null };
}
