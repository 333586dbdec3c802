import fc from 'fast-check';
import { METER, REGIONS } from '../catalog';
import type { Reference } from '../model';
import type { UsageEvent } from '../usage';
import type { BillingCommand, EngineUnderTest } from './engine';

const HOUR_S = 3_600;

interface Reported {
  readonly tenths: number;
  /** Seconds since the event; negative for an event in the future. */
  readonly seconds: number;
  readonly region: string | null;
}

/** Reports usage, a few events in one request. */
class Report implements BillingCommand {
  constructor(private readonly reported: readonly Reported[]) {}

  check(): boolean {
    return true;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const events = this.reported.map(({ tenths, seconds, region }) => {
      const at = model.now - seconds * 1_000;
      model.usage.report(at, BigInt(tenths), region);
      return {
        idempotency_key: usageKey(engine, model.usage.events.length - 1),
        customer_id: engine.customerId,
        event_name: METER.eventName,
        timestamp: new Date(at).toISOString(),
        properties: {
          [METER.valueProperty]: tenths / 10,
          ...(region === null ? {} : { [METER.groupBy]: region }),
        },
      };
    });
    const answer = await engine.post('/v1/usage-events', { events });
    expect(answer.body).toEqual({ accepted: events.length, duplicates: 0, rejected: [] });
  }

  toString(): string {
    const sent = this.reported.map(
      ({ tenths, seconds, region }) => `${tenths / 10} in ${region ?? '?'}, ${seconds} s ago`,
    );
    return `report(${sent.join('; ')})`;
  }
}

class VoidUsage implements BillingCommand {
  constructor(
    private readonly pick: number,
    /** Voids any event, or one that is billed by a line with a credit note. */
    private readonly of: 'any' | 'credited',
  ) {}

  check(model: Readonly<Reference>): boolean {
    return this.events(model).length > 0;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    const { usage } = model;
    const events = this.events(model);
    const event = events[this.pick % events.length];
    if (event === undefined) return;
    const place = usage.events.indexOf(event);
    usage.void(event);
    const key = usageKey(engine, place);
    const answer = await engine.post('/v1/usage-events/void', { idempotency_key: key });
    expect(answer).toMatchObject({ status: 200, body: { idempotency_key: key } });
  }

  private events({ usage, creditNotes }: Readonly<Reference>): readonly UsageEvent[] {
    if (this.of === 'any') return usage.events;
    const issued = creditNotes.all.filter(({ status }) => status === 'issued');
    const credited = issued.flatMap(({ lines }) => lines.flatMap(({ line }) => line.usage ?? []));
    return usage.events.filter(
      ({ at, isVoid }) => !isVoid && credited.some(({ from, to }) => from <= at && at < to),
    );
  }

  toString(): string {
    return `void ${this.of === 'credited' ? 'credited ' : ''}usage(${this.pick})`;
  }
}

function usageKey({ customerId }: EngineUnderTest, place: number): string {
  return `${customerId}-${place}`;
}

/** Generates the age of an event: today, the weeks before, or slightly in the future. */
const seconds = fc.oneof(
  fc.integer({ min: 0, max: 24 * HOUR_S }),
  fc.integer({ min: 0, max: 35 * 24 * HOUR_S }),
  fc.integer({ min: -12 * HOUR_S, max: 0 }),
);

const region = fc.constantFrom(...REGIONS);

/** Generates quantities in tenths. Some are negative: they take back usage, as for refunds of payments. */
const tenths = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 400 }) },
  { weight: 1, arbitrary: fc.integer({ min: -300, max: -1 }) },
);

const reportSince = (since: fc.Arbitrary<number>): fc.Arbitrary<BillingCommand> =>
  fc
    .array(fc.record({ tenths, seconds: since, region }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((reported) => new Report(reported));

export const report = reportSince(seconds);
export const reportToday = reportSince(fc.integer({ min: 0, max: 23 * HOUR_S }));

const anyEvent = fc.nat({ max: 20 });
export const voidUsage = anyEvent.map((place) => new VoidUsage(place, 'any'));
export const voidCreditedUsage = anyEvent.map((place) => new VoidUsage(place, 'credited'));

/** Reports one event with a timestamp days or weeks ago. */
export const reportLate = fc
  .record({
    tenths,
    seconds: fc.integer({ min: 24 * HOUR_S, max: 30 * 24 * HOUR_S }),
    region,
  })
  .map((reported) => new Report([reported]));
