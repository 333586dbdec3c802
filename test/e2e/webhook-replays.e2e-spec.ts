import { ReplaysService } from '../../src/modules/webhooks/replay/replays.service';
import { startTestApp, type TestApp } from '../support/test-app';

const FROM = '2026-01-01T00:00:00.000Z';
const TO = '2026-02-01T00:00:00.000Z';

/** Inserts events one second apart, one in `$2` of which is `refund.succeeded`. */
const RECORD_EVENTS = `
  INSERT INTO event (id, type, object_id, sequence, data, occurred_at)
  SELECT 'evt_replayed' || lpad(place::text, 10, '0'),
    CASE WHEN place % $2 = 0 THEN 'refund.succeeded' ELSE 'coupon.updated' END,
    'ref_replayed' || lpad(place::text, 10, '0'), 1, '{"object":{},"previous":{}}',
    '2026-01-01T00:00:00Z'::timestamptz + place * interval '1 second'
  FROM generate_series(1, $1::integer) AS place`;

interface Replay {
  readonly id: string;
  readonly status: string;
  readonly failure_code: string | null;
  readonly read_to: string;
  readonly events_read: number;
  readonly replayed: number;
}

describe('replays to webhook endpoints', () => {
  let engine: TestApp;
  let at: string;

  beforeEach(async () => {
    engine = await startTestApp();
    const created = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: 'http://127.0.0.1:9/hooks', events: ['*'] });
    at = `/v1/webhooks/endpoints/${(created.body as { id: string }).id}`;
  });

  afterEach(async () => {
    await engine.close();
  });

  const record = (count: number, oneIn: number) =>
    engine.database.query(RECORD_EVENTS, [count, oneIn]);

  const start = (events: readonly string[], key?: string) => {
    const request = engine.http.post(`${at}/replay`);
    if (key !== undefined) void request.set('Idempotency-Key', key);
    return request.send({ from: FROM, to: TO, events });
  };

  const read = async (id: string) => (await engine.http.get(`${at}/replays/${id}`)).body as Replay;

  const continueNext = (app: TestApp = engine) => app.app.get(ReplaysService).continueNext();

  const deliveries = async () => {
    const rows = await engine.database.query<{ event_id: string }>(
      `SELECT event_id FROM webhook_delivery WHERE kind = 'replay' ORDER BY event_id`,
    );
    return rows.map((row) => row.event_id);
  };

  it('read a bounded number of events per step, and continue in the background', async () => {
    await record(2_500, 500);
    const started = await start(['refund.*']);
    expect(started.status).toBe(200);
    const first = started.body as Replay;
    expect(first).toMatchObject({
      status: 'running',
      failure_code: null,
      events_read: 1_000,
      replayed: 2,
      read_to: '2026-01-01T00:16:40.000Z',
    });
    expect(await read(first.id)).toEqual(first);
    expect(await continueNext()).toBe(true);
    expect(await read(first.id)).toMatchObject({ events_read: 2_000, replayed: 4 });
    expect(await continueNext()).toBe(true);
    expect(await read(first.id)).toMatchObject({
      status: 'completed',
      events_read: 2_500,
      replayed: 5,
      read_to: '2026-01-01T00:41:40.000Z',
    });
    expect(await continueNext()).toBe(false);
    const listed = await engine.http.get(`${at}/replays`);
    expect((listed.body as { data: Replay[] }).data).toEqual([await read(first.id)]);
  });

  it('continue although the step of one that began earlier fails', async () => {
    await record(1_500, 1);
    const failing = (await start(['*'])).body as Replay;
    const other = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: 'http://127.0.0.1:9/hooks', events: ['*'] });
    at = `/v1/webhooks/endpoints/${(other.body as { id: string }).id}`;
    engine.clock.advanceMs(1_000);
    const { id } = (await start(['*'])).body as Replay;
    engine.clock.advanceMs(1_000);
    await engine.database.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cut'; END $$`);
    await engine.database.query(`
      CREATE TRIGGER refuse BEFORE UPDATE OF read_to_id ON webhook_replay FOR EACH ROW
      WHEN (NEW.id = '${failing.id}') EXECUTE FUNCTION refuse()`);
    await expect(continueNext()).rejects.toThrow('cut');
    expect(await continueNext()).toBe(true);
    expect(await read(id)).toMatchObject({ status: 'completed' });
  });

  it('report why a step failed although the replay cannot be moved back either', async () => {
    await record(1_500, 1);
    await start(['*']);
    await engine.database.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF NEW.read_to_id <> OLD.read_to_id THEN RAISE 'cut'; END IF; RAISE 'not moved'; END $$`);
    await engine.database.query(`
      CREATE TRIGGER refuse BEFORE UPDATE ON webhook_replay FOR EACH ROW EXECUTE FUNCTION refuse()`);
    await expect(continueNext()).rejects.toThrow('cut');
  });

  it('create each delivery once, with failing steps and two concurrent processes', async () => {
    await record(3_500, 1);
    const { id } = (await start(['refund.*'])).body as Replay;
    const other = await startTestApp({ databaseUrl: engine.databaseUrl });
    try {
      await engine.database.query(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cut'; END $$`);
      await engine.database.query(
        'CREATE TRIGGER refuse BEFORE UPDATE ON webhook_replay EXECUTE FUNCTION refuse()',
      );
      await expect(continueNext()).rejects.toThrow('cut');
      expect(await read(id)).toMatchObject({ events_read: 1_000, replayed: 1_000 });
      await engine.database.query('DROP TRIGGER refuse ON webhook_replay');
      for (let round = 0; round < 5; round += 1) {
        await Promise.all([
          continueNext(),
          continueNext(other),
          continueNext(),
          continueNext(other),
        ]);
      }
      expect(await read(id)).toMatchObject({ status: 'completed', replayed: 3_500 });
      const made = await deliveries();
      expect(made).toHaveLength(3_500);
      expect(new Set(made).size).toBe(3_500);
    } finally {
      await other.close();
    }
  });

  it('to one endpoint run one at a time, and a repeated request is the same replay', async () => {
    await record(1_500, 1);
    const started = await start(['refund.*'], 'once');
    const repeated = await start(['refund.*'], 'once');
    expect(repeated.body).toEqual(started.body);
    const { id } = started.body as Replay;
    const refused = await start(['refund.*']);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: 'webhook_replay_running', replay_id: id });
    await continueNext();
    const [one, two] = await Promise.all([start(['refund.*']), start(['refund.*'])]);
    expect([one.status, two.status].sort()).toEqual([200, 409]);
  });

  it('stop when the endpoint is disabled, and show their progress', async () => {
    await record(1_500, 1);
    const { id } = (await start(['refund.*'])).body as Replay;
    await engine.http.patch(at).send({ is_active: false });
    await continueNext();
    expect(await read(id)).toMatchObject({
      status: 'failed',
      failure_code: 'webhook_endpoint_inactive',
      events_read: 1_000,
      replayed: 1_000,
      read_to: '2026-01-01T00:16:40.000Z',
    });
    expect(await continueNext()).toBe(false);
  });

  it('stop at 100,000 deliveries, and can be started again from there', async () => {
    await record(2_500, 1);
    const { id } = (await start(['refund.*'])).body as Replay;
    await engine.database.query('UPDATE webhook_replay SET replayed = 99500 WHERE id = $1', [id]);
    await continueNext();
    expect(await read(id)).toMatchObject({
      status: 'failed',
      failure_code: 'replay_too_large',
      events_read: 1_500,
      replayed: 100_000,
      read_to: '2026-01-01T00:25:00.000Z',
    });
  });

  it('leave out the test events of other endpoints, also in a replay of all events', async () => {
    const other = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: 'http://127.0.0.1:9/hooks', events: ['coupon.*'] });
    const elsewhere = `/v1/webhooks/endpoints/${(other.body as { id: string }).id}`;
    const ofOther = (await engine.http.post(`${elsewhere}/test`)).body as { event_id: string };
    const own = (await engine.http.post(`${at}/test`)).body as { event_id: string };
    const from = engine.clock.now().getTime() - 3_600_000;
    const period = {
      from: new Date(from).toISOString(),
      to: new Date(from + 7_200_000).toISOString(),
    };
    const types = ['*', 'webhook_endpoint.*', 'webhook_endpoint.tested'];
    for (const name of types) {
      const replayed = await engine.http.post(`${at}/replay`).send({ ...period, events: [name] });
      expect(replayed.body).toMatchObject({ status: 'completed' });
    }
    const made = await deliveries();
    expect(made).not.toContain(ofOther.event_id);
    expect(made.filter((id) => id === own.event_id)).toHaveLength(types.length);
  });

  it('without events are completed at once', async () => {
    expect((await start(['refund.*'])).body).toMatchObject({
      status: 'completed',
      events_read: 0,
      replayed: 0,
      read_to: FROM,
    });
  });

  it.each([
    ['reversed', { from: TO, to: FROM }],
    ['empty', { from: FROM, to: FROM }],
  ])('of a period that is %s are refused', async (_, period) => {
    const { status, body } = await engine.http.post(`${at}/replay`).send(period);
    const errors = [{ pointer: '/from', code: 'contradiction' }];
    expect([status, body]).toMatchObject([400, { code: 'validation_failed', errors }]);
    expect((await engine.http.get(`${at}/replays`)).body).toMatchObject({ data: [] });
  });

  it('with unknown ids, or of another endpoint, give 404', async () => {
    const { id } = (await start(['refund.*'])).body as Replay;
    const other = await engine.http
      .post('/v1/webhooks/endpoints')
      .send({ url: 'http://127.0.0.1:9/hooks', events: ['*'] });
    const elsewhere = `/v1/webhooks/endpoints/${(other.body as { id: string }).id}`;
    for (const path of [`${elsewhere}/replays/${id}`, `${at}/replays/nope`]) {
      const answered = await engine.http.get(path);
      expect(answered.status).toBe(404);
      expect(answered.body).toMatchObject({ code: 'webhook_replay_not_found' });
    }
  });
});
