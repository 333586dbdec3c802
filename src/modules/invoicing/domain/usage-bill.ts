import type { Rational } from '../../../core/decimal';
import { toJson } from '../../../core/exact-json';
import type { Period } from '../../../core/time';
import type { BillTerms } from './billed-by';
import type { CountedUsage } from './decide-usage-lines';
import type { InvoiceLine } from './invoice';
import type { UsageLineRequest } from './line-item-request';
import type { MeterSnapshot, UsageGroup } from './usage';

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
 * @param terms discounts and taxes of that invoice; if no invoice was made, those that it would have had; null: none.
 *   Stored only if no line bills the usage; otherwise they are found through that line
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
  const byGroup = linesByGroup(ofPeriod);
  // A correction bills all groups. So does a line that is billed again although its usage moved to another group.
  const ofAllGroups = billed === null ? undefined : ofPeriod[0];
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
      lineId: (byGroup.get(JSON.stringify(group)) ?? ofAllGroups)?.id ?? null,
    })),
  };
}

export function toUsageRequest(kept: unknown): UsageLineRequest {
  return kept as UsageLineRequest;
}

function linesByGroup(lines: readonly InvoiceLine[]): ReadonlyMap<string, InvoiceLine> {
  const found = new Map<string, InvoiceLine>();
  for (const line of lines) {
    if (line.trace.kind !== 'usage') continue;
    const group = JSON.stringify(line.trace.parts[0]?.group);
    if (!found.has(group)) found.set(group, line);
  }
  return found;
}
