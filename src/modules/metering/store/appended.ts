import { parseExact, rational, type Rational, multiply } from '../../../core/decimal';
import type { LateUsage } from '../domain/late-usage';
import type { MovedWindow } from '../usage-watchers';
import type { StreamName } from './staged-events';
import type { Refusal } from './usage-refusals';

/** What the statement that stores usage tells, as JSON of the database. */
export interface Recorded {
  readonly accepted: number;
  readonly missed: readonly (readonly [index: number, refusal: Refusal | null])[];
  readonly late: readonly {
    readonly no: number;
    readonly billedId: string;
    readonly meterId: string;
    readonly startMs: number;
    readonly endMs: number;
    readonly events: number;
  }[];
  readonly windows: readonly {
    readonly no: number;
    readonly meterId: string;
    readonly aggregation: string;
    readonly startMs: number;
    readonly endMs: number;
    readonly before: string;
    readonly after: string;
  }[];
}

export function toLateUsage(recorded: Recorded, streams: readonly StreamName[]): LateUsage[] {
  return recorded.late.map(({ no, billedId, meterId, events, ...span }) => ({
    billedId,
    customerId: streams[no]?.customerId ?? '',
    meterId,
    period: periodOf(span),
    events,
  }));
}

export function toMovedWindows(recorded: Recorded, streams: readonly StreamName[]): MovedWindow[] {
  return recorded.windows.map(({ no, meterId, aggregation, before, after, ...span }) => {
    const lengthMs = span.endMs - span.startMs;
    const valueOf = (total: string): Rational =>
      aggregation === 'weighted_sum'
        ? multiply(parseExact(total), rational(1n, BigInt(lengthMs)))
        : parseExact(total);
    return {
      customerId: streams[no]?.customerId ?? '',
      meterId,
      period: periodOf(span),
      before: valueOf(before),
      after: valueOf(after),
    };
  });
}

function periodOf({ startMs, endMs }: { readonly startMs: number; readonly endMs: number }) {
  return { startAt: new Date(startMs), endAt: new Date(endMs) };
}
