import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import type { Page, PageRequest } from '../../../platform/database';
import { invalidCursor } from '../../../platform/errors';
import type { RecordedFile } from '../domain/archive-file';
import type { ArchivedMonth } from '../domain/archived-month';
import { usageArchived } from '../usage.errors';
import type { BilledPeriod } from '../usage-billed.repository';
import {
  ArchivedMonthsRepository,
  type ArchivedQuery,
  type MonthRow,
} from './archived-months.repository';
import { UsageArchiveRepository } from './usage-archive.repository';

/** Cursor of the first page: an instant after all months, because pages start with the newest month. */
const LAST = new Date('9999-12-31T00:00:00.000Z');

/** Reports which months are archived, and refuses requests that need archived events. */
@Injectable()
export class ArchivedUsage {
  constructor(
    private readonly months: ArchivedMonthsRepository,
    private readonly archive: UsageArchiveRepository,
  ) {}

  /** Returns, for each query, the archived months of the queried stream that overlap the queried period, oldest first. */
  async findMonths(
    queries: readonly ArchivedQuery[],
  ): Promise<readonly (readonly ArchivedMonth[])[]> {
    if (queries.length === 0) return [];
    const found = await this.months.findOverlapping(queries);
    return found.map((months) => months.map(toMonth));
  }

  /**
   * Returns archived months of a customer, newest first.
   * @param eventName null: all event names
   * @throws {ProblemError} `invalid_cursor`
   */
  async listMonths(
    customerId: string,
    eventName: string | null,
    { limit, after }: PageRequest,
  ): Promise<Page<ArchivedMonth>> {
    const cursor = after === null ? ([LAST, '0'] as const) : parseCursor(after);
    const rows = await this.months.findBefore(customerId, eventName, cursor, limit + 1);
    const page = pageOf(rows, limit, (row) => [row.startAt, row.streamId]);
    return { ...page, items: page.items.map(toMonth) };
  }

  /**
   * Returns the files of the archive, the newest month first.
   * @throws {ProblemError} `invalid_cursor`
   */
  async listFiles({ limit, after }: PageRequest): Promise<Page<RecordedFile>> {
    const [month, number] = after === null ? [LAST, '0'] : parseCursor(after);
    const rows = await this.archive.filesBefore(month, number, limit + 1);
    return pageOf(rows, limit, (file) => [file.month, String(file.number)]);
  }

  /** Returns the end of the last archived month of a stream; null if none is archived. */
  archiveEndOfStream(stream: string): Promise<Date | null> {
    return this.months.archiveEndOfStream(stream);
  }

  /** Returns the end of the newest month that is archived for any stream of an event name; null if none is archived. */
  archiveEndOfEventName(eventName: string): Promise<Date | null> {
    return this.months.archiveEndOfEventName(eventName);
  }

  /**
   * Requires that no hour touched by one of these ranges has archived events. Pass only the ranges that are read from
   * single events. Whole hours need no events, because they are read from their stored totals.
   * @throws {ProblemError} `usage_archived`
   */
  async requireUnarchived(stream: string, ranges: readonly Period[]): Promise<void> {
    if (ranges.length > 0) refuse(await this.months.findMissing(stream, ranges));
  }

  /**
   * Does the same as {@link requireUnarchived} for all streams of an event name.
   * @throws {ProblemError} `usage_archived`
   */
  async requireUnarchivedOfEventName(eventName: string, ranges: readonly Period[]): Promise<void> {
    if (ranges.length > 0) refuse(await this.months.findMissingOfEventName(eventName, ranges));
  }

  /**
   * Requires that no closed month of the customer ends after `since`, so that all usage from then on can be billed. If
   * the caller has locked the customer's streams, this holds until the transaction ends.
   * @throws {ProblemError} `usage_archived`
   */
  async requireNoClosedMonthAfter(customerId: string, since: Date): Promise<void> {
    const before = (await this.months.closedEndOfCustomer(customerId)) ?? since;
    if (since < before) throw usageArchived(before, 'Metered prices can start from then on.');
  }

  /**
   * Locks the streams of billed periods, so that no other month of these streams is closed until the transaction ends.
   * Requires that each period starts at or after the instant up to which its stream is closed for the archive, so that
   * none of its events is archived. The only exception is a period that was billed after `since` and has no late usage
   * to bill.
   * @param since null: no exception
   * @param otherwise sentence for the caller: what is refused, and what to do instead
   * @returns the periods that were accepted by the exception: some of their events may be archived
   * @throws {ProblemError} `usage_archived`
   */
  async lockUnarchived(
    periods: readonly BilledPeriod[],
    since: Date | null,
    otherwise: string,
  ): Promise<readonly BilledPeriod[]> {
    if (periods.length === 0) return [];
    const closed = await this.months.lockClosed(periods);
    const needed = closed.find(
      ({ billedAt }) => since === null || billedAt === null || billedAt <= since,
    );
    refuse(needed?.archivedBefore ?? null, otherwise);
    return closed.flatMap(({ number }) => periods[number - 1] ?? []);
  }

  /**
   * Requires that no events with this name are archived. Call it for a new recurring meter, because its values carry
   * over from events of any age. Prevents archiving until the transaction ends.
   * @throws {ProblemError} `usage_archived`
   */
  async requireNoneArchived(eventName: string): Promise<void> {
    await this.archive.block();
    refuse(
      await this.archiveEndOfEventName(eventName),
      'A new recurring meter would lack the values that they set. Use an earlier meter, or report the present value of each customer with another event name and create the meter for it.',
    );
  }
}

/** @throws {ProblemError} `usage_archived` if `archivedBefore` is not null */
function refuse(archivedBefore: Date | null, otherwise?: string): void {
  if (archivedBefore !== null) throw usageArchived(archivedBefore, otherwise);
}

function toMonth({ streamId, ...month }: MonthRow): ArchivedMonth {
  return month;
}

function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (row: Row) => readonly [Date, string],
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  if (rows.length <= limit || last === undefined) return { items, next: null };
  const [startAt, number] = keyOf(last);
  return { items, next: `${startAt.getTime()}.${number}` };
}

/** @throws {ProblemError} `invalid_cursor` */
function parseCursor(cursor: string): readonly [Date, string] {
  const [, ms, number] = /^(-?\d{1,14})\.(\d{1,18})$/.exec(cursor) ?? [];
  if (ms === undefined || number === undefined) throw invalidCursor();
  return [new Date(Number(ms)), number];
}
