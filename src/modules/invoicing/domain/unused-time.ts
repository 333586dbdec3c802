import { invariant } from '../../../core/invariant';
import { type Proration, prorate, unusedPart } from '../../../core/proration';
import type { CreditLineRequest } from './line-item-request';
import type { InvoiceLine } from './invoice';

/**
 * Returns the part of the full period that a line billed, counted as `part`, another part of the same period; null: all
 * of it. Even a line without proration can have billed only a part, because a plan without proration charges the full
 * price for a short first period.
 */
export function billedPartOf(line: InvoiceLine, part: Proration): Proration | null {
  const { proration, period, fullPeriod } = line;
  const isFull = period?.startAt.getTime() === fullPeriod?.startAt.getTime();
  if (proration === null) return isFull ? null : partOfFullPeriod(line);
  // Time zone data that are newer than the line can give the period another number of days.
  const isRecounted =
    part.unit === proration.unit &&
    (part.denominator !== proration.denominator || part.numerator > proration.numerator);
  return isRecounted ? partOfFullPeriod(line) : proration;
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
  return unusedPart(used, billedPartOf(line, used) ?? partOfFullPeriod(line));
}
