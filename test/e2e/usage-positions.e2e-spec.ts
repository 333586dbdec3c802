import { createCustomer, insertMeter, type SentEvent } from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';

const NAME = 'api_request';

describe('positions of events in their stream', () => {
  let engine: TestApp;
  let customers: readonly string[];
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    await insertMeter(engine, { eventName: NAME });
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    customers = await Promise.all(Array.from({ length: 3 }, () => createCustomer(engine)));
  });

  /** Returns events of the customers in turns, so that the events of a stream are not next to each other. */
  const inTurns = (length: number): readonly SentEvent[] =>
    Array.from({ length }, (_, at) => ({
      idempotency_key: `position-${String((serial += 1)).padStart(6, '0')}`,
      customer_id: customers[at % customers.length] ?? '',
      event_name: NAME,
      timestamp: '2026-03-01T09:15:00.000Z',
      properties: {},
    }));

  const sendList = async (events: readonly SentEvent[]): Promise<unknown> =>
    (await engine.http.post('/v1/usage-events').send({ events })).body;

  const sendLines = async (events: readonly SentEvent[]): Promise<unknown> => {
    const lines = events.map((event) => JSON.stringify(event)).join('\n');
    const request = engine.http.post('/v1/usage-events');
    return (await request.set('Content-Type', 'application/x-ndjson').send(lines)).body;
  };

  const accepted = (count: number, duplicates = 0) => ({
    accepted: count,
    duplicates,
    rejected: [],
  });

  /** Returns the positions of each customer's events, in the order of the keys, and checks the last position. */
  async function positions(): Promise<readonly (readonly number[])[]> {
    const rows = await engine.database.query<{ last: number; positions: number[] }>(
      `SELECT last_position::int AS last, ARRAY(
         SELECT position::int FROM usage_event WHERE stream_id = stream.id ORDER BY idempotency_key
       ) AS positions
       FROM usage_stream AS stream WHERE customer_id = ANY($1::text[])
       ORDER BY array_position($1::text[], customer_id::text)`,
      [customers],
    );
    for (const row of rows) expect(row.last).toBe(Math.max(...row.positions));
    return rows.map((row) => row.positions);
  }

  const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, at) => at + 1);

  it('count through the events of the stream, for new and for known streams', async () => {
    for (const last of [2, 4, 6]) {
      expect(await sendList(inTurns(6))).toEqual(accepted(6));
      expect(await positions()).toEqual(customers.map(() => upTo(last)));
    }
  });

  it.each([4_000, 4_002])('count through the events of the stream in %i lines', async (count) => {
    const ofEach = customers.map((_, at) => Math.ceil((count - at) / customers.length));
    for (const times of [1, 2]) {
      expect(await sendLines(inTurns(count))).toEqual(accepted(count));
      expect(await positions()).toEqual(ofEach.map((events) => upTo(events * times)));
    }
  });

  it('ascend in registered windows', async () => {
    const meter = await insertMeter(engine, { eventName: NAME });
    await sendList(inTurns(3));
    await engine.database.query(
      `INSERT INTO usage_window (stream_id, meter_id, start_at, end_at)
       SELECT id, $1, '2026-03-01T08:30:00Z', '2026-03-01T09:40:00Z'
       FROM usage_stream WHERE customer_id = ANY($2)`,
      [meter, customers],
    );
    for (let times = 0; times < 2; times += 1) await sendList(inTurns(6));
    expect(await positions()).toEqual(customers.map(() => upTo(5)));
  });

  it('ascend with gaps where events of a request were duplicates', async () => {
    const first = inTurns(6);
    await sendList(first);
    for (const again of [first, first.slice(0, 3)]) {
      expect(await sendList([...again, ...inTurns(3)])).toEqual(accepted(3, again.length));
    }
    expect(await positions()).toEqual(customers.map(() => [1, 2, 5, 7]));
  });

  it('count through the events of all requests of a commit', async () => {
    await sendList(inTurns(3));
    const lists = Array.from({ length: 20 }, () => inTurns(6));
    await Promise.all(lists.map(sendList));
    const stored = await positions();
    const sorted = stored.map((of) => [...of].sort((one, other) => one - other));
    expect(sorted).toEqual(customers.map(() => upTo(41)));
  });
});
