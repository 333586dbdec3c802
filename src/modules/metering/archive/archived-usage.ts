import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { type Page, pageFrom, type PageRequest } from '../../../platform/database';
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

/** Cursor of the first page. It is an instant after all months, because pages start with the newest month. */
const LAST = new Date('9999-12-31T00:00:00.000Z');

/** Reports which months are archived, and refuses requests that need archived events. */
@Injectable()
export class ArchivedUsage {
  constructor(
    private readonly months: ArchivedMonthsRepository,
    private readonly archive: UsageArchiveRepository,
  ) {}

  /** Returns for each query the archived months that overlap its period, oldest first. */
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
    const page = pageFrom(rows, limit, ({ startAt, streamId }) => cursorAt(startAt, streamId));
    return { ...page, items: page.items.map(toMonth) };
  }

  /**
   * Returns archive files, newest month first.
   * @throws {ProblemError} `invalid_cursor`
   */
  async listFiles({ limit, after }: PageRequest): Promise<Page<RecordedFile>> {
    const [month, number] = after === null ? [LAST, '0'] : parseCursor(after);
    const rows = await this.archive.filesBefore(month, number, limit + 1);
    return pageFrom(rows, limit, (file) => cursorAt(file.month, file.number));
  }

  /** Returns the end of the last archived month of a stream (a customer and event name); null if none is archived. */
  archiveEndOfStream(stream: string): Promise<Date | null> {
    return this.months.archiveEndOfStream(stream);
  }

  /** Returns the end of the newest archived month with events of this name, of any customer; null if there is none. */
  archiveEndOfEventName(eventName: string): Promise<Date | null> {
    return this.months.archiveEndOfEventName(eventName);
  }

  /**
   * Requires that usage can be counted from the single events of these ranges. Fails if an hour that overlaps a range
   * has archived events that are deleted, or that the meter does not count. Call this after the events were read,
   * because the archive may delete events at any time. Pass no whole hours that are read from stored totals.
   * @param isExact true if events are counted up to a stream position (the number of an event, in commit order). Any
   *   archived event in these hours then fails, because the totals do not show whether an event that was voided after
   *   the position is deleted
   * @throws {ProblemError} `usage_archived`
   */
  async requireStored(
    stream: string,
    meterId: string,
    ranges: readonly Period[],
    isExact = false,
  ): Promise<void> {
    if (ranges.length > 0) refuse(await this.months.findMissing(stream, meterId, ranges, isExact));
  }

  /**
   * Requires that no hour that overlaps one of the ranges has archived events with this name, of any customer. Pass
   * only ranges that are counted from single events.
   * @throws {ProblemError} `usage_archived`
   */
  async requireUnarchivedOfEventName(eventName: string, ranges: readonly Period[]): Promise<void> {
    if (ranges.length > 0) refuse(await this.months.findMissingOfEventName(eventName, ranges));
  }

  /**
   * Requires that no month of the customer that ends after `since` is archived or closed (about to be archived). All
   * usage since then can thus be billed. Stays true until the transaction ends if the caller has locked the customer's
   * streams.
   * @throws {ProblemError} `usage_archived`
   */
  async requireNoClosedMonthAfter(customerId: string, since: Date): Promise<void> {
    const before = (await this.months.closedEndOfCustomer(customerId)) ?? since;
    if (since < before) throw usageArchived(before, 'Metered prices can start from then on.');
  }

  /**
   * Requires that no event of these billed periods is archived. Locks their streams, so that none is archived until the
   * transaction ends. Exception: a period that was billed after `since` may have archived events if it has no late
   * usage to bill. Late usage is events that were stored or voided after the bill.
   * @param since null: no period may have archived events
   * @param otherwise last sentence of the error: what is refused, and what to do instead
   * @returns the periods whose events may be archived
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

  /** Waits until the running step of archiving has ended, and prevents further steps until the transaction ends. */
  blockArchive(): Promise<void> {
    return this.archive.block();
  }

  /**
   * Requires that no events with this name are archived. Needed for a new recurring meter, because its values carry
   * over from events of any age.
   * @throws {ProblemError} `usage_archived`
   */
  async requireNoneArchived(eventName: string): Promise<void> {
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

function cursorAt(startAt: Date, number: string | number): string {
  return `${startAt.getTime()}.${number}`;
}

/** @throws {ProblemError} `invalid_cursor` */
function parseCursor(cursor: string): readonly [Date, string] {
  const [, ms, number] = /^(-?\d{1,14})\.(\d{1,18})$/.exec(cursor) ?? [];
  if (ms === undefined || number === undefined) throw invalidCursor();
  return [new Date(Number(ms)), number];
}
