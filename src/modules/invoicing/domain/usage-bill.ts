import { compare, parseExact, type Rational, ZERO } from '../../../core/decimal';
import { toJson } from '../../../core/exact-json';
import type { Period } from '../../../core/time';
import type { BillTerms } from './billed-by';
import type { CountedUsage } from './decide-usage-lines';
import { isFirstBillLine } from './first-bill';
import type { InvoiceLine } from './invoice';
import type { UsageLineRequest } from './line-item-request';
import type { MeterSnapshot, TracedPart, UsageGroup, UsagePart } from './usage';

export interface KeptUsage {
  readonly meter: MeterSnapshot;
  readonly itemId: string;
  readonly period: Period;
  readonly countedFrom: Date;
  readonly upToPosition: bigint;
  /** JSON of the {@link UsageLineRequest}. */
  readonly terms: object;
  readonly groups: readonly {
    readonly group: UsageGroup;
    readonly quantity: Rational;
    readonly events: bigint;
    /** Line whose trace has this usage; null if none. */
    readonly lineId: string | null;
  }[];
}

export function linesOfUsage(
  request: UsageLineRequest,
  lines: readonly InvoiceLine[],
): readonly InvoiceLine[] {
  return lines.filter(
    ({ itemId, period }) =>
      itemId === request.itemId &&
      period?.startAt.getTime() === request.period.startAt.getTime() &&
      period.endAt.getTime() === request.period.endAt.getTime(),
  );
}

/**
 * Returns the record of billed usage, from which late usage (accepted after its period was billed) is found and billed.
 *
 * @param lines lines of the invoice that bills the usage
 * @param terms discounts and taxes of that invoice, or those that it would have had if no invoice was made; null: none.
 *   Stored only if no line bills the usage. Otherwise they are read through that line
 */
export function billOf(
  { request, reading, billed }: CountedUsage,
  lines: readonly InvoiceLine[],
  terms: BillTerms | null = null,
): KeptUsage {
  const together = linesOfUsage(request, lines);
  const ofPeriod = together.filter(({ kind }) => kind === 'usage');
  const isUnbilled = billed === null && together.length === 0 && terms !== null;
  const kept: UsageLineRequest = isUnbilled ? { ...request, billTerms: terms } : request;
  const lineOf = linesByGroup(ofPeriod, reading.parts);
  return {
    meter: reading.meter,
    itemId: request.itemId,
    period: request.period,
    countedFrom: reading.countedFrom,
    upToPosition: reading.upToPosition,
    terms: toJson(kept) as object,
    groups: reading.parts.map(({ group, quantity, events }) => ({
      group: group ?? [],
      quantity,
      events,
      lineId: lineOf(group)?.id ?? null,
    })),
  };
}

export function toUsageRequest(kept: unknown): UsageLineRequest {
  return kept as UsageLineRequest;
}

/**
 * Returns a function that finds the line that bills the usage of a group. A usage correction bills all groups. If the
 * lines bill other usage than is counted now, the function finds no line, because their traces lack the difference.
 * This can happen on a regenerated invoice.
 */
function linesByGroup(
  lines: readonly InvoiceLine[],
  parts: readonly UsagePart[],
): (group: UsageGroup | null) => InvoiceLine | undefined {
  const correction = lines.find((line) => !isFirstBillLine(line));
  if (correction !== undefined) return () => correction;
  const counted = new Map(parts.map((part) => [JSON.stringify(part.group), part]));
  const found = new Map<string, InvoiceLine>();
  for (const line of lines) {
    if (line.trace.kind !== 'usage') continue;
    for (const traced of line.trace.parts) {
      const group = JSON.stringify(traced.group);
      if (!isSameUsage(traced, counted.get(group))) return () => undefined;
      found.set(group, line);
    }
  }
  if (parts.some((part) => isUsed(part) && !found.has(JSON.stringify(part.group)))) {
    return () => undefined;
  }
  return (group) => found.get(JSON.stringify(group));
}

function isUsed({ quantity, events }: UsagePart): boolean {
  return events > 0n || compare(quantity, ZERO) !== 0;
}

function isSameUsage(traced: TracedPart, counted: UsagePart | undefined): boolean {
  if (counted?.events !== traced.events) return false;
  return compare(counted.quantity, parseExact(traced.quantity)) === 0;
}
