import { invariant } from '../../../core/invariant';
import { type Proration, prorate, unusedPart } from '../../../core/proration';
import type { CreditLineRequest } from './line-item-request';
import type { InvoiceLine } from './invoice';

/**
 * Returns the part of the full period that a line billed; null: all of it.
 * - A proration in the given `unit` is counted again: newer time zone data can give another number of days.
 * - A proration in another unit is returned as stored.
 * - A line without proration can also have billed only a part. A plan without proration charges the full price for a
 *   short first period.
 */
export function billedPartOf(line: InvoiceLine, unit: Proration['unit']): Proration | null {
  const { proration, period, fullPeriod } = line;
  if (proration !== null) return proration.unit === unit ? partOfFullPeriod(line) : proration;
  const isFull = period?.startAt.getTime() === fullPeriod?.startAt.getTime();
  return isFull ? null : partOfFullPeriod(line);
}

function partOfFullPeriod(line: InvoiceLine): Proration {
  const { period, fullPeriod, unit, timeZone } = billedTimeOf(line);
  return prorate(unit, { ...period, end: 'border' }, fullPeriod, timeZone);
}

function billedTimeOf({ period, fullPeriod, prorationUnit: unit, timeZone }: InvoiceLine) {
  invariant(
    period !== null && fullPeriod !== null && unit !== null && timeZone !== null,
    'a credited line was billed for a period',
  );
  return { period, fullPeriod, unit, timeZone };
}

/** Returns the unused part of a line that was billed in advance, as a part of the full period. */
export function unusedOf(line: InvoiceLine, request: CreditLineRequest): Proration {
  const { period, fullPeriod, unit, timeZone } = billedTimeOf(line);
  const { unusedFrom: from, end } = request;
  // A line whose period starts after `from` is unused as a whole.
  const startAt = from > period.startAt ? from : period.startAt;
  if (end === 'border' || from < period.startAt) {
    const counted = from < period.startAt ? unit : (request.unit ?? unit);
    return prorate(counted, { startAt, endAt: period.endAt, end: 'border' }, fullPeriod, timeZone);
  }
  const used = prorate(
    unit,
    { startAt: period.startAt, endAt: from, end: 'termination' },
    fullPeriod,
    timeZone,
  );
  return unusedPart(used, partOfFullPeriod(line));
}
