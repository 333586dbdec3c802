import { Client } from 'pg';
import { MeterBackfills } from '../../src/modules/metering/meter-backfills';
import { FastPathAppend } from '../../src/modules/metering/ingest/fast-path-append';
import { FastPathRequest } from '../../src/modules/metering/ingest/fast-path-request';
import { StreamCache } from '../../src/modules/metering/ingest/stream-cache';
import { countLockWaits, disableLockTimeout, untilSessionsWait } from '../support/lock-waits';
import {
  bucketsOf,
  createCustomer,
  insertMeter,
  reportedOf,
  type SentEvent,
} from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const NAME = 'api_request';
const HOUR = '2026-03-01T09:00:00.000Z';
const NEXT_HOUR = '2026-03-01T10:00:00.000Z';

describe('events of a stream in the cache', () => {
  let engine: TestApp;
  /** A second process on the same database. */
  let other: TestApp;
  let customer: string;
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp({ plantsDeadlocks: true });
    other = await startTestApp({ databaseUrl: engine.databaseUrl });
    await insertMeter(engine, { eventName: NAME });
  });

  afterAll(async () => {
    await other.close();
    await engine.close();
  });

  const event = (changes: Partial<SentEvent> = {}): SentEvent => ({
    idempotency_key: `known-${(serial += 1)}`,
    customer_id: customer,
    event_name: NAME,
    timestamp: '2026-03-01T09:15:00.000Z',
    properties: { amount: 2, region: 'a "quoted\\" region, {with} NULL' },
    ...changes,
  });

  const send = async (body: object, through = engine): Promise<unknown> =>
    (await through.http.post('/v1/usage-events').send(body)).body;

  const accepted = (count: number) => ({ accepted: count, duplicates: 0, rejected: [] });

  const known = () => engine.app.get(StreamCache).get({ customerId: customer, eventName: NAME });

  /** Creates a customer whose stream is in the cache of this process. */
  beforeEach(async () => {
    customer = await createCustomer(engine);
    await send(event());
    await send(event());
    const never = Number.NEGATIVE_INFINITY;
    expect(known()).toMatchObject({ openFromMs: never, windowsEndMs: never });
  });

  const insertWindow = (meter: string, endAt = NEXT_HOUR) =>
    other.database.query(
      `INSERT INTO usage_window (stream_id, meter_id, start_at, end_at)
       SELECT id, $1, '2026-03-01T08:30:00Z', $3 FROM usage_stream WHERE customer_id = $2`,
      [meter, customer, endAt],
    );

  const insertBill = (meter: string) =>
    other.database.query(
      `INSERT INTO usage_billed (id, stream_id, meter_id, item_id, period_start_at, period_end_at, counted_from_at, group_key,
         quantity, events, up_to_position, terms, is_late, created_at)
       SELECT 'ub_' || $2, id, $1, 'si_x', $3, $4, $3, '[]', 1, 1, last_position, '{}', false, now()
       FROM usage_stream WHERE customer_id = $2`,
      [meter, customer, HOUR, NEXT_HOUR],
    );

  const totals = async (meter: string) =>
    (await bucketsOf(engine, meter)).map(({ start, events, total }) => [start, events, total]);

  const countOf = async (meter: string) =>
    (await bucketsOf(engine, meter)).reduce((sum, { events }) => sum + events, 0);

  it('are stored unchanged, in the order in which they arrive', async () => {
    const sent = [event(), event({ idempotency_key: 'k"\\,{}', properties: {} }), event()];
    expect(await send({ events: sent })).toEqual(accepted(3));
    const rows = await engine.database.query<SentEvent>(
      `SELECT idempotency_key, properties FROM usage_event JOIN usage_stream ON usage_stream.id = stream_id
       WHERE customer_id = $1 ORDER BY position DESC LIMIT 3`,
      [customer],
    );
    expect(rows.reverse()).toEqual(
      sent.map(({ idempotency_key, properties }) => ({ idempotency_key, properties })),
    );
  });

  it('get a result each, also those that were not stored', async () => {
    const [first, second] = [event(), event()];
    await send(first);
    const answer = await send({
      events: [{}, first, { ...first, properties: {} }, second, second, event()],
    });
    expect(answer).toMatchObject({
      accepted: 2,
      duplicates: 2,
      rejected: [
        { index: 0, code: 'validation_failed' },
        { index: 2, code: 'idempotency_key_reused' },
      ],
    });
    expect(await reportedOf(engine, customer)).toEqual({ accepted: 5, duplicates: 2, rejected: 1 });
  });

  it('are counted by a meter that another process created', async () => {
    const made = await other.http
      .post('/v1/meters')
      .send({ key: `made-${serial}`, name: 'Made', event_name: NAME, aggregation: 'count' });
    const { id } = made.body as { id: string };
    const before = await countOf(id);
    expect(await send(event())).toEqual(accepted(1));
    expect(await countOf(id)).toBe(before + 1);
  });

  it('update a usage window that another process registered', async () => {
    const meter = await insertMeter(engine, { eventName: NAME, aggregation: 'sum' });
    await insertWindow(meter, '2026-03-01T09:30:00.000Z');
    await send(event());
    await send(event());
    const windows = (await totals(meter)).filter(([start]) => start === '2026-03-01 08:30');
    expect(windows).toEqual([['2026-03-01 08:30', 2, '4']]);
    expect(known()).toMatchObject({ windowsEndMs: Date.parse('2026-03-01T09:30:00Z') });
  });

  it('are late for a period that another process billed', async () => {
    const meter = await insertMeter(engine, { eventName: NAME, aggregation: 'sum' });
    await insertBill(meter);
    expect(await send(event())).toEqual(accepted(1));
    const isLate = async () =>
      (
        await engine.database.query<{ late: boolean }>(
          'SELECT is_late AS late FROM usage_billed WHERE id = $1',
          [`ub_${customer}`],
        )
      )[0]?.late;
    expect(await isLate()).toBe(true);
    await engine.database.query('UPDATE usage_billed SET is_late = false');
    expect(await send(event({ timestamp: NEXT_HOUR }))).toEqual(accepted(1));
    expect(await isLate()).toBe(false);
  });

  it('wait for a meter that is created while their stream is created', async () => {
    const eventName = 'appearing';
    const maker = new Client({ connectionString: engine.databaseUrl });
    const biller = new Client({ connectionString: engine.databaseUrl });
    await Promise.all([maker.connect(), biller.connect()]);
    await biller.query('BEGIN');
    await biller.query(
      `INSERT INTO usage_stream (customer_id, event_name, last_position) VALUES ('${customer}', '${eventName}', 0)`,
    );
    await maker.query('BEGIN');
    await maker.query(
      'SELECT pg_advisory_xact_lock(7301995, slot) FROM generate_series(0, 63) AS slot',
    );
    const { rows } = await maker.query<{ id: string }>(
      `INSERT INTO meter (id, version, key, name, event_name, aggregation, filters, group_by, late_events, is_recurring,
         metadata, created_at, updated_at)
       VALUES ('mtr_appearing', 1, 'appearing', 'Made', '${eventName}', 'count', '[]', '[]', 'next_invoice', false, '{}',
         now(), now())
       RETURNING id`,
    );
    // The transaction that creates the meter has counted the stream without this event.
    await biller.query('COMMIT');
    let isDone = false;
    const sent = send(event({ event_name: eventName })).finally(() => (isDone = true));
    await until('it waits, or is stored', async () => {
      const waits = await engine.database.query(
        "SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()",
      );
      return isDone || waits.length > 0;
    });
    await maker.query('COMMIT');
    await Promise.all([maker.end(), biller.end()]);
    expect(await sent).toEqual(accepted(1));
    expect(await countOf(rows[0]?.id ?? '')).toBe(1);
  });

  it('are not stored with cached state that another request of the same commit has changed', async () => {
    const stream = known();
    if (stream === undefined) throw new Error('The stream is known.');
    const request = (version: string): FastPathRequest => {
      const incoming = {
        index: 0,
        idempotencyKey: event().idempotency_key,
        customerId: customer,
        eventName: NAME,
        timestamp: new Date(HOUR),
        properties: {},
      };
      const ofVersion = () => ({ ...stream, version });
      const [made] = FastPathRequest.split([incoming], 1, ofVersion, new Date(HOUR)).parts;
      if (made === undefined) throw new Error('The event needs nothing but to be stored.');
      return made;
    };
    const append = (requests: readonly FastPathRequest[]) =>
      engine.app.get(FastPathAppend).append(requests);
    const stored = { accepted: 1, notStored: [] };
    const [now, before] = [stream.version, `-${stream.version}1`];
    expect(await append([request(now), request(before)])).toEqual([stored, 'outdated']);
    expect(await append([request(before), request(now)])).toEqual(['outdated', stored]);
  });

  describe('in a list for many customers', () => {
    let customers: string[];

    /** Creates customers whose streams belong to two shards, two customers each. */
    beforeEach(async () => {
      const byShare: string[][] = [[], []];
      while (byShare.some((share) => share.length < 2)) {
        const one = await createCustomer(engine);
        await send(event({ customer_id: one }));
        await send(event({ customer_id: one }));
        const stream = engine.app.get(StreamCache).get({ customerId: one, eventName: NAME });
        byShare[Number(stream?.id) % 2]?.push(one);
      }
      customers = byShare.flatMap((share) => share.slice(0, 2));
    });

    const listOf = (length: number): SentEvent[] =>
      Array.from({ length }, (_, at) => event({ customer_id: customers[at % 4] ?? '' }));

    const eventsOf = async (ofCustomer: string | undefined): Promise<number> => {
      const [row] = await engine.database.query<{ events: number }>(
        `SELECT count(*)::int AS events FROM usage_event JOIN usage_stream AS stream ON stream.id = stream_id
         WHERE customer_id = $1`,
        [ofCustomer],
      );
      return row?.events ?? 0;
    };

    it.each([8, 996])('are stored in parallel with one response: %d', async (length) => {
      const events = listOf(length);
      expect(await send({ events })).toEqual(accepted(length));
      expect(await Promise.all(customers.map(eventsOf))).toEqual(
        customers.map(() => 2 + length / 4),
      );
      const [first, second, third, fourth, ...others] = events;
      const again = { timestamp: '2026-03-01T09:20:00.000Z' };
      const changed = [
        ...others,
        { ...fourth, ...again },
        { ...second, ...again },
        event({ customer_id: customers[2] ?? '' }),
        { ...third, ...again },
        { ...first, ...again },
      ];
      expect(await send({ events: changed })).toMatchObject({
        accepted: 1,
        duplicates: length - 4,
        rejected: [-4, -3, -1, 0].map((place) => ({
          index: length + place,
          code: 'idempotency_key_reused',
        })),
      });
    });

    it('are answered after the lock on one of their streams is released', async () => {
      const holder = new Client({ connectionString: engine.databaseUrl });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [
        customers[3],
      ]);
      const sent = send({ events: listOf(1_000) });
      await until('the others are stored', async () => {
        const stored = await Promise.all(customers.slice(0, 3).map(eventsOf));
        return stored.every((events) => events === 252);
      });
      expect(await eventsOf(customers[3])).toBe(2);
      await holder.query('COMMIT');
      await holder.end();
      expect(await sent).toEqual(accepted(1_000));
      expect(await Promise.all(customers.map(eventsOf))).toEqual([252, 252, 252, 252]);
    });

    it('do not wait for a stream with a registered window', async () => {
      const meter = await insertMeter(engine, { eventName: NAME, aggregation: 'sum' });
      [customer] = customers as [string];
      await insertWindow(meter);
      const holder = new Client({ connectionString: engine.databaseUrl });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [customer]);
      const sent = send({ events: listOf(1_000) });
      await until('the others are stored', async () => {
        const stored = await Promise.all(customers.slice(1).map(eventsOf));
        return stored.every((events) => events === 252);
      });
      expect(await eventsOf(customer)).toBe(2);
      await holder.query('COMMIT');
      await holder.end();
      expect(await sent).toEqual(accepted(1_000));
      const windows = (await totals(meter)).filter(([start]) => start === '2026-03-01 08:30');
      expect(windows).toEqual([['2026-03-01 08:30', 250, '500']]);
    });

    it('get a result each, also if one of their streams is stored later because it is locked', async () => {
      const stored = listOf(8);
      await send({ events: stored });
      const holder = new Client({ connectionString: engine.databaseUrl });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [
        customers[3],
      ]);
      const sent = send({ events: [...stored, ...listOf(8)] });
      await until('the others are stored', async () => (await eventsOf(customers[2])) === 6);
      await holder.query('COMMIT');
      await holder.end();
      expect(await sent).toEqual({ accepted: 8, duplicates: 8, rejected: [] });
      expect(await Promise.all(customers.map(eventsOf))).toEqual([6, 6, 6, 6]);
    });

    it('are stored although one of their streams changed', async () => {
      await other.database.query(
        'UPDATE usage_stream SET version = version + 1 WHERE customer_id = $1',
        [customers[2]],
      );
      expect(await send({ events: listOf(1_000) })).toEqual(accepted(1_000));
      expect(await Promise.all(customers.map(eventsOf))).toEqual([252, 252, 252, 252]);
    });

    it('assign a key to the first event that uses it', async () => {
      for (const [one, two] of [
        [0, 3],
        [3, 0],
      ] as const) {
        const key = event().idempotency_key;
        const events = listOf(600);
        events[10] = event({ customer_id: customers[one] ?? '', idempotency_key: key });
        events[20] = event({ customer_id: customers[two] ?? '', idempotency_key: key });
        expect(await send({ events })).toMatchObject({
          accepted: 599,
          rejected: [{ index: 20, code: 'idempotency_key_reused' }],
        });
      }
    });
  });

  it('update the hourly tallies in the order of the hours', async () => {
    const hours = Array.from(
      { length: 24 },
      (_, hour) => new Date(Date.parse(HOUR) - hour * 3_600_000),
    );
    const list = { events: hours.map((hour) => event({ timestamp: hour.toISOString() })) };
    const repeated = { accepted: 0, duplicates: 24, rejected: [] };
    expect(await send(list)).toEqual(accepted(24));
    expect(await send(list)).toEqual(repeated);
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    const touch = (hour: Date | undefined) =>
      holder.query(
        `UPDATE usage_tally SET duplicates = duplicates
         WHERE hour = $2 AND stream_id = (SELECT id FROM usage_stream WHERE customer_id = $1)`,
        [customer, hour],
      );
    await holder.query('BEGIN');
    await touch(hours.at(-1));
    const sent = send(list);
    await untilSessionsWait(engine.database);
    for (const hour of hours) await touch(hour);
    await holder.query('COMMIT');
    await holder.end();
    expect(await sent).toEqual(repeated);
  });

  describe('in a deadlock', () => {
    const FIRST = '2026-03-01T07:00:00.000Z';
    const SECOND = '2026-03-01T08:00:00.000Z';
    let holder: Client;

    beforeEach(async () => {
      holder = new Client({ connectionString: engine.databaseUrl });
      await holder.connect();
      // The session that has waited longest detects the deadlock and fails.
      await holder.query("SET deadlock_timeout = '1min'");
      await holder.query('BEGIN');
    });

    afterEach(() => holder.end());

    const someoneWaits = (): Promise<void> => untilSessionsWait(engine.database);

    it('are stored after it is resolved', async () => {
      await insertMeter(engine, { eventName: NAME, aggregation: 'count' });
      expect(await send(event())).toEqual(accepted(1));
      await holder.query(
        `SELECT FROM usage_bucket WHERE stream_id = (SELECT id FROM usage_stream WHERE customer_id = $1) FOR UPDATE`,
        [customer],
      );
      const sent = send(event());
      await someoneWaits();
      await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [customer]);
      await holder.query('COMMIT');
      expect(await sent).toEqual(accepted(1));
    });

    it('get their results after it is resolved', async () => {
      const [first, second] = [event({ timestamp: FIRST }), event({ timestamp: SECOND })];
      for (let times = 0; times < 2; times += 1) await send({ events: [first, second] });
      await holder.query(
        `UPDATE usage_tally SET duplicates = duplicates
         WHERE hour = $2 AND stream_id = (SELECT id FROM usage_stream WHERE customer_id = $1)`,
        [customer, SECOND],
      );
      const sent = send({ events: [first, event(), second] });
      await someoneWaits();
      // Waits for a lock of the table, not of the row: the victim's second attempt could lock the row again before this
      // session runs, and would be the victim again, but it gets a lock of the table only after this session.
      await holder.query('LOCK TABLE usage_tally IN SHARE ROW EXCLUSIVE MODE');
      await holder.query('COMMIT');
      expect(await sent).toEqual({ accepted: 1, duplicates: 2, rejected: [] });
    });
  });

  it('are refused if the customer is deleted while they wait, as are events of other streams', async () => {
    await disableLockTimeout(engine);
    await disableLockTimeout(other);
    const deletion = new Client({ connectionString: engine.databaseUrl });
    await deletion.connect();
    try {
      await deletion.query('BEGIN');
      await deletion.query('LOCK TABLE customer_access IN SHARE MODE');
      const deleted = engine.http.delete(`/v1/customers/${customer}`).then(({ status }) => status);
      await untilSessionsWait(engine.database);
      const late = [
        send(event()),
        send({ events: [event(), event()] }),
        send(event(), other),
        send(event({ event_name: 'new' }), other),
      ];
      await untilSessionsWait(engine.database, 1 + late.length);
      await deletion.query('COMMIT');
      expect(await deleted).toBe(204);
      const refused = { code: 'customer_not_found' };
      const single = { errors: [refused] };
      expect(await Promise.all(late)).toMatchObject([
        single,
        { accepted: 0, rejected: [refused, refused] },
        single,
        single,
      ]);
    } finally {
      await deletion.end();
    }
  });

  it('are refused after another process deleted the customer', async () => {
    await other.http.delete(`/v1/customers/${customer}`);
    expect(await send(event())).toMatchObject({
      code: 'usage_event_rejected',
      errors: [{ pointer: '/customer_id', code: 'customer_not_found' }],
    });
  });

  it('are refused if they are more than a day ahead', async () => {
    const tomorrow = new Date(engine.clock.now().getTime() + 86_400_000);
    const at = (ms: number) =>
      event({ timestamp: new Date(tomorrow.getTime() + ms).toISOString() });
    expect(await send({ events: [at(0), at(1)] })).toMatchObject({
      accepted: 1,
      rejected: [{ index: 1, code: 'usage_in_future' }],
    });
  });

  it('wait for a lock on their stream, while other events of the same commit do not', async () => {
    const free = await createCustomer(engine);
    for (let sent = 0; sent < 2; sent += 1) await send(event({ customer_id: free }));
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [customer]);
    let isDone = false;
    const waiting = [send(event()), send({ events: [event(), event({ customer_id: free })] })];
    const done = Promise.all(waiting).finally(() => (isDone = true));
    const passing = await Promise.all([
      send(event({ customer_id: free })),
      send({ events: [event({ customer_id: free }), event({ customer_id: free })] }),
    ]);
    expect(passing).toEqual([accepted(1), accepted(2)]);
    expect([isDone, known()?.id]).toEqual([false, expect.any(String)]);
    await holder.query('COMMIT');
    await holder.end();
    expect(await done).toEqual([accepted(1), accepted(2)]);
  });

  const waits = (): Promise<number> => countLockWaits(other.database);

  it('leave connections to other requests, however many lists wait for a stream', async () => {
    const holder = new Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [customer]);
    const sendList = () => send({ events: [event(), event()] });
    const waiting: ReturnType<typeof sendList>[] = [];
    for (const connections of [1, 2, 3, 4]) {
      // Lists that are sent together wait together, with one connection.
      waiting.push(sendList());
      await until('another waits', async () => (await waits()) === connections);
    }
    for (let sent = 0; sent < 16; sent += 1) waiting.push(sendList());
    expect((await engine.http.get(`/v1/customers/${customer}`)).status).toBe(200);
    expect(await waits()).toBe(4);
    await holder.query('COMMIT');
    await holder.end();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => accepted(2)));
  });

  it('are stored if another list of their commit waits too long for a stream', async () => {
    const locked = await createCustomer(engine);
    for (let sent = 0; sent < 2; sent += 1) await send(event({ customer_id: locked }));
    const holders = await Promise.all(
      [customer, locked].map(async (id) => {
        const holder = new Client({ connectionString: engine.databaseUrl });
        await holder.connect();
        await holder.query('BEGIN');
        await holder.query('SELECT FROM usage_stream WHERE customer_id = $1 FOR UPDATE', [id]);
        return holder;
      }),
    );
    const lists = [
      [event(), event()],
      [event(), event({ customer_id: locked })],
    ];
    const answered = Promise.all(lists.map((events) => send({ events })));
    await until('they wait', async () => (await waits()) === 1);
    await holders[0]?.query('COMMIT');
    const [stored, timedOut] = await answered;
    for (const holder of holders) await holder.end();
    expect(stored).toEqual(accepted(2));
    // A list may be stored in part; sent again, all of it is.
    const again = (await send({ events: lists[1] })) as ReturnType<typeof accepted>;
    const code = again.duplicates > 0 ? 'outcome_unknown' : 'service_unavailable';
    expect(timedOut).toMatchObject({ code });
    expect([again.accepted + again.duplicates, again.rejected]).toEqual([2, []]);
    expect(await send({ events: lists[0] })).toEqual({ accepted: 0, duplicates: 2, rejected: [] });
  });

  it('are counted exactly once while two processes report and everything changes', async () => {
    const customers = await Promise.all(Array.from({ length: 4 }, () => createCustomer(engine)));
    const name = 'busy';
    const meter = await insertMeter(engine, { eventName: name, aggregation: 'sum' });
    const sent = Array.from({ length: 200 }, (_, at) =>
      event({ event_name: name, customer_id: customers[at % 4] ?? '' }),
    );
    const report = async (through: TestApp, from: number): Promise<void> => {
      for (let at = from; at < sent.length; at += 10) {
        await send(at % 3 === 0 ? { events: sent.slice(at, at + 10) } : (sent[at] ?? {}), through);
      }
    };
    const made: string[] = [meter];
    const change = async (): Promise<void> => {
      for (let round = 0; round < 6; round += 1) {
        const answer = await other.http
          .post('/v1/meters')
          .send({ key: `busy-${round}`, name: 'Busy', event_name: name, aggregation: 'count' });
        made.push((answer.body as { id: string }).id);
      }
    };
    const reporters = [engine, other].flatMap((through) =>
      Array.from({ length: 10 }, (_, from) => report(through, from)),
    );
    await Promise.all([...reporters, change()]);
    await until('the meters are active', async () => {
      while (await other.app.get(MeterBackfills).runDue());
      return (await other.database.query('SELECT FROM meter_backfill')).length === 0;
    });
    const [stored] = await engine.database.query<{ events: number }>(
      `SELECT count(*)::int AS events FROM usage_event JOIN usage_stream ON usage_stream.id = stream_id
       WHERE event_name = $1`,
      [name],
    );
    expect(stored?.events).toBeGreaterThan(190);
    for (const one of made) {
      expect([one, await countOf(one)]).toEqual([one, stored?.events]);
    }
  });
});
