/** Usage that benchmarks report: events of some customers, spread evenly over a time span. */
export interface UsageShape {
  readonly customers: readonly string[];
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly lengthMs: number;
  /** Default: {@link EVENT_NAME}. */
  readonly eventName?: string;
}

export interface BenchEvent {
  readonly key: string;
  readonly customer: number;
  readonly occurredAt: string;
  readonly properties: string;
}

const REGIONS = ['eu-west', 'eu-north', 'us-east', 'us-west', 'ap-south'] as const;

export const EVENT_NAME = 'api_request';

/** Returns the event with this number. It depends only on the number and the run. */
export function eventOf(
  { customers, startMs, lengthMs }: UsageShape,
  run: string,
  number: number,
): BenchEvent {
  const offsetMs = (number * 7_919) % lengthMs;
  const region = REGIONS[number % REGIONS.length] ?? '';
  return {
    key: `${run}-${number.toString(36)}-0d9f8b1c`,
    customer: (number * 31) % customers.length,
    occurredAt: new Date(startMs + offsetMs).toISOString(),
    properties: `{"bytes":${1_000 + (number % 9_000)},"region":"${region}","route":"/v1/things/${number % 50}"}`,
  };
}

export function lineOf(shape: UsageShape, run: string, number: number): string {
  const { key, customer, occurredAt, properties } = eventOf(shape, run, number);
  return (
    `{"idempotency_key":"${key}","customer_id":"${shape.customers[customer] ?? ''}",` +
    `"event_name":"${shape.eventName ?? EVENT_NAME}","timestamp":"${occurredAt}","properties":${properties}}`
  );
}

export interface SenderJob {
  readonly port: number;
  readonly shape: UsageShape;
  readonly run: string;
  /** Number of the first event. */
  readonly first: number;
  readonly events: number;
  readonly perRequest: number;
  readonly connections: number;
}

export interface WriterJob {
  readonly kind: 'copy' | 'insert';
  readonly databaseUrl: string;
  readonly shape: UsageShape;
  readonly streams: readonly string[];
  readonly run: string;
  readonly first: number;
  readonly events: number;
  readonly perCommit: number;
  readonly connections: number;
}

const DAY_MS = 86_400_000;
const LINES_A_REQUEST = 100_000;

/** Reports events named `call` of one customer in bodies of NDJSON, spread over a day from `startMs`. */
export async function reportCalls(
  url: string,
  customerId: string,
  startMs: number,
  count: number,
): Promise<void> {
  for (let from = 0; from < count; from += LINES_A_REQUEST) {
    const length = Math.min(LINES_A_REQUEST, count - from);
    const lines = Array.from({ length }, (_, index) =>
      JSON.stringify({
        idempotency_key: `${customerId}-${from + index}`,
        customer_id: customerId,
        event_name: 'call',
        timestamp: new Date(startMs + (((from + index) * 7_919) % DAY_MS)).toISOString(),
        properties: { amount: '1' },
      }),
    );
    const answer = await fetch(`${url}/v1/usage-events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: lines.join('\n'),
    });
    const body = (await answer.json()) as { readonly accepted?: number };
    if (body.accepted !== length) throw new Error(`Not accepted: ${JSON.stringify(body)}`);
  }
}
