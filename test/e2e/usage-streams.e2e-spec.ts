import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Client } from 'pg';
import type { AppendResultDto } from '../../src/modules/metering/dto/append-result.dto';
import {
  bucketsOf,
  createCustomer,
  insertMeter,
  stagedBodies,
  type SentEvent,
} from '../support/metering';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

describe('usage sent as NDJSON', () => {
  let engine: TestApp;
  let customer: string;
  let serial = 0;

  beforeAll(async () => {
    engine = await startTestApp();
    await insertMeter(engine, { eventName: 'api_request' });
  });

  afterAll(() => engine.close());

  beforeEach(async () => {
    customer = await createCustomer(engine);
  });

  const event = (changes: Partial<SentEvent> = {}): SentEvent => ({
    idempotency_key: `stream-${(serial += 1)}`,
    customer_id: customer,
    event_name: 'api_request',
    timestamp: new Date(Date.parse('2026-03-01T00:00:00Z') + serial * 1_000).toISOString(),
    properties: { amount: 1 },
    ...changes,
  });

  const linesOf = (count: number, changes: Partial<SentEvent> = {}): string =>
    Array.from({ length: count }, () => `${JSON.stringify(event(changes))}\n`).join('');

  const send = (body: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
    engine.http
      .post('/v1/usage-events')
      .set({ 'Content-Type': 'application/x-ndjson', ...headers })
      .serialize((sent) => sent as unknown as string)
      .send(body as string);

  const storedOf = async (customerId: string): Promise<number> => {
    const [row] = await engine.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM usage_event JOIN usage_stream ON usage_stream.id = stream_id
       WHERE customer_id = $1`,
      [customerId],
    );
    return row?.count ?? 0;
  };

  it.each([3, 4_000, 4_001, 9_000])('stores and counts %i lines', async (count) => {
    const eventName = `lines-${count}`;
    const meter = await insertMeter(engine, { eventName, aggregation: 'sum' });
    const body = linesOf(count, { event_name: eventName });
    const nothing = { duplicates: 0, rejected: [] };
    expect((await send(body)).body).toEqual({ accepted: count, ...nothing });
    expect((await send(body)).body).toEqual({ accepted: 0, duplicates: count, rejected: [] });
    const buckets = await bucketsOf(engine, meter);
    expect(buckets.reduce((sum, { total }) => sum + Number(total), 0)).toBe(count);
    expect(await storedOf(customer)).toBe(count);
  });

  it('reports each line that it rejects, and stores the others', async () => {
    const lines = Array.from({ length: 2_000 }, () => JSON.stringify(event()));
    lines[0] = '{"idempotency_key":';
    lines[3] = '';
    lines[700] = JSON.stringify({ ...event(), customer_id: 'cus_01h455vb4pex5vsknk084sn02q' });
    lines[1_500] = lines[1_499] ?? '';
    lines[1_700] = JSON.stringify(event({ properties: { text: 'x'.repeat(16_385) } }));
    lines[1_999] = JSON.stringify({ ...JSON.parse(lines[1_998] ?? ''), properties: {} });
    const answer = await send(lines.join('\r\n'));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      accepted: 1_994,
      duplicates: 1,
      rejected: [
        { index: 0, code: 'malformed_request' },
        { index: 700, code: 'customer_not_found' },
        { index: 1_700, code: 'validation_failed' },
        { index: 1_999, code: 'idempotency_key_reused' },
      ],
    });
  });

  it('warns of stored lines that no meter counts, not of rejected ones', async () => {
    const counted = async () => {
      const { text } = await engine.http.get('/metrics');
      return Number(/^usage_events_uncounted_total (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
    };
    const before = await counted();
    const unknown = linesOf(1, {
      customer_id: 'cus_01h455vb4pex5vsknk084sn02q',
      event_name: 'misspelled',
    });
    const rejected = (await send(`{}\n${unknown}`)).body as object;
    expect(rejected).toMatchObject({ accepted: 0, rejected: [{ index: 0 }, { index: 1 }] });
    expect(rejected).not.toHaveProperty('warnings');
    const stored = linesOf(2, { event_name: 'misspelled' });
    expect((await send(`${unknown}{}\n${stored}${linesOf(1)}`)).body).toMatchObject({
      accepted: 3,
      rejected: [{ index: 0 }, { index: 1 }],
      warnings: [{ code: 'usage_not_counted', event_name: 'misspelled', events: 2 }],
    });
    expect(await counted()).toBe(before + 2);
  });

  it('skips the byte order mark with which some programs start a file', async () => {
    const mark = '\uFEFF';
    expect((await send(`${mark}${linesOf(2)}`)).body).toMatchObject({ accepted: 2, rejected: [] });
    const bad = Buffer.from(`${JSON.stringify(event())}\n"b\u00e4d"`, 'latin1');
    const mixed = Buffer.concat([Buffer.from(mark), bad]);
    expect((await send(mixed)).body).toMatchObject({ accepted: 1, rejected: [{ index: 1 }] });
    expect((await send(mark)).body).toEqual({ accepted: 0, duplicates: 0, rejected: [] });
  });

  it('rejects lines with invalid UTF-8 one by one', async () => {
    const bad = Buffer.from(JSON.stringify(event({ idempotency_key: 'b\u00e4d' })), 'latin1');
    const good = event({
      idempotency_key: 'g\u00f6\u00f6d \u{1F600}',
      properties: { 'k\u00e9y': '\u00fc' },
    });
    const body = Buffer.concat([bad, Buffer.from(`\n${JSON.stringify(good)}\n`)]);
    const answer = await send(body);
    expect(answer.body).toMatchObject({
      accepted: 1,
      rejected: [{ index: 0, code: 'malformed_request' }],
    });
    const [stored] = await engine.database.query(
      'SELECT properties FROM usage_event WHERE idempotency_key = $1',
      [good.idempotency_key],
    );
    expect(stored).toEqual({ properties: good.properties });
  });

  it('decompresses gzip, and stores nothing of a body that breaks off', async () => {
    const packed = gzipSync(linesOf(1_500));
    const gzip = { 'Content-Encoding': 'gzip' };
    expect((await send(packed, gzip)).body).toMatchObject({ accepted: 1_500 });
    const other = await createCustomer(engine);
    const broken = gzipSync(linesOf(3_000, { customer_id: other }));
    const answer = await send(broken.subarray(0, broken.length - 20), gzip);
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([
      400,
      'malformed_request',
    ]);
    expect(await storedOf(other)).toBe(0);
    expect((await send(linesOf(1), { 'Content-Encoding': 'zstd' })).status).toBe(415);
  });

  it('stores nothing when the client disconnects before the end', async () => {
    const { port } = new URL(await engine.app.getUrl());
    const request = httpRequest({
      port,
      method: 'POST',
      path: '/v1/usage-events',
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    request.on('error', () => undefined);
    request.write(linesOf(8_000));
    const client = new Client({ connectionString: engine.databaseUrl });
    await client.connect();
    await until('the lines are staged', async () => (await stagedBodies(client)) === 1);
    request.destroy();
    await until('they are dropped', async () => (await stagedBodies(client)) === 0);
    await client.end();
    expect(await storedOf(customer)).toBe(0);
  });

  it('accepts 100,000 lines, and refuses more', async () => {
    const short = { ...event(), properties: undefined };
    const lines = (count: number) => `${JSON.stringify(short)}\n`.repeat(count);
    const refused = await send(lines(100_001));
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([
      413,
      'payload_too_large',
    ]);
    expect(await storedOf(customer)).toBe(0);
    const taken = await send(lines(100_000));
    expect(taken.body).toEqual({ accepted: 1, duplicates: 99_999, rejected: [] });
  });

  it('refuses a line that does not end', async () => {
    const answer = await send('x'.repeat(2_000_000));
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([
      413,
      'payload_too_large',
    ]);
  });

  it('accepts an empty body, which has no effect', async () => {
    expect((await send('')).body).toEqual({ accepted: 0, duplicates: 0, rejected: [] });
    expect((await send('\n\n')).body).toEqual({ accepted: 0, duplicates: 0, rejected: [] });
  });

  it('counts each key once when two services receive the same lines concurrently', async () => {
    const eventName = 'twice';
    const meter = await insertMeter(engine, { eventName });
    const other = await startTestApp({ databaseUrl: engine.databaseUrl });
    const customers = await Promise.all(Array.from({ length: 5 }, () => createCustomer(engine)));
    const lines = Array.from({ length: 3_000 }, (_, place) =>
      JSON.stringify(event({ event_name: eventName, customer_id: customers[place % 5] ?? '' })),
    );
    const body = lines.join('\n');
    const reversed = [...lines].reverse().join('\n');
    try {
      const toOther = other.http
        .post('/v1/usage-events')
        .set('Content-Type', 'application/x-ndjson')
        .serialize(String);
      const answers = await Promise.all([send(body), toOther.send(reversed)]);
      const results = answers.map(({ body: result }): AppendResultDto => result as AppendResultDto);
      expect(results.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(3_000);
      expect(results.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBe(3_000);
      const counted = (await bucketsOf(engine, meter)).reduce((sum, { events }) => sum + events, 0);
      expect(counted).toBe(3_000);
    } finally {
      await other.close();
    }
  });
});
