import { hourOf } from '../store/counted-sql';
import { eventsOf, IS_WHOLE_HOUR, NOT_VOIDED } from '../store/totals-sql';

/**
 * SQL for the end of the last archived month of a stream; null if no month is archived. Events before that instant are
 * in files, and may be deleted from the database.
 */
export const archivedBefore = (stream: string): string => `
  (SELECT max(end_at) FROM usage_archive_month WHERE stream_id = ${stream} AND written_at IS NOT NULL)`;

/**
 * SQL condition: `month` was archived before `meter` was created, so the meter does not count its events. Allows a
 * difference of 10 s, because the two times are set by different processes, whose clocks may each be wrong by 5 s.
 */
export const WRITTEN_BEFORE_METER = `month.written_at <= meter.created_at + interval '10 seconds'`;

/**
 * SQL of the instant from which single events are needed to count a billed period (`billed`, of `meter`) again. It is
 * usually the start of the period. After a change within a billing period, it is the start of that billing period,
 * because values of a `weighted_sum` carry over from there. A recurring meter carries values over from all earlier
 * periods, but reads them from hourly totals. For such a meter, it is the start of the period.
 */
export const NEEDED_FROM =
  'least(billed.period_start_at, CASE WHEN NOT meter.is_recurring THEN billed.counted_from_at END)';

/**
 * SQL of the number of deleted events in the UTC hour that contains `instant`: the total of the hour minus the stored
 * events. Negative if the meter was created after events of the hour were archived and before they were deleted. The
 * total then lacks events that are still stored.
 */
export function deletedEvents(stream: string, meter: string, instant: string): string {
  const hour = hourOf(instant);
  const pieces = { stream, meter, condition: NOT_VOIDED, groupBy: [] };
  return `(
    (
      SELECT coalesce(sum(events), 0) FROM usage_bucket
      WHERE stream_id = ${stream} AND meter_id = ${meter} AND start_at = ${hour} AND ${IS_WHOLE_HOUR}
    ) - (
      SELECT count(*) FROM (VALUES (${hour}, ${hour} + interval '1 hour')) AS edge(start_at, end_at)
      CROSS JOIN LATERAL (${eventsOf(pieces)}
      ) AS stored
    )
  )`;
}

/**
 * SQL condition: some events of the hour that contains `instant` were archived and deleted. The total of the hour still
 * includes them. A period that begins within the hour can then not be counted exactly.
 */
export const lacksEvents = (stream: string, meter: string, instant: string): string =>
  `(${instant} < ${archivedBefore(stream)} AND ${deletedEvents(stream, meter, instant)} > 0)`;
