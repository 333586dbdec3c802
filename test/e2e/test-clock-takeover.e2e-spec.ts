import { Client } from 'pg';
import { untilSessionsWait } from '../support/lock-waits';
import { startTestApp, Story, type TestApp } from '../support/story';

const START = '2026-03-01T00:00:00.000Z';
const TARGET = '2026-05-01T00:00:00.000Z';
const LATER = '2026-06-01T00:00:00.000Z';
const LEASE_MS = 60_000;
/** Number of the advisory lock for which the frozen statement waits. */
const ICE = 4_711;

/** Answer of a request, with whether it was replayed. */
type Seen = readonly [status: number, body: unknown, replayed: string | undefined];

describe('an advance that another process takes over after the end of its lease', () => {
  /** The process that is frozen during its advance, and then continues. */
  let engine: TestApp;
  let other: TestApp;
  let ice: Client;
  let story: Story;

  beforeAll(async () => {
    engine = await startTestApp();
    other = await startTestApp({ databaseUrl: engine.databaseUrl });
    other.clock.advanceMs(LEASE_MS);
    ice = new Client({ connectionString: engine.databaseUrl });
    await ice.connect();
    await ice.query('CREATE SEQUENCE freezes');
  });

  beforeEach(async () => {
    story = await Story.begin(engine, START);
    await story.subscribe(await story.plan(1_000));
  });

  afterAll(async () => {
    await ice.end();
    await other.close();
    await engine.close();
  });

  async function advance(through: TestApp, to: string, key: string): Promise<Seen> {
    const { status, body, headers } = await through.http
      .post(`/v1/test-clocks/${story.clockId}/advance`)
      .set('Idempotency-Key', `${key} ${story.clockId}`)
      .send({ to });
    return [status, body, headers['idempotent-replayed']];
  }

  /**
   * Advances the clock in a process that freezes before its first change of a test clock whose SQL contains this text, and
   * continues once `act` has ended. The frozen process holds no row lock. Returns the answer to the advance.
   */
  async function frozenBefore(text: string, act: () => Promise<void>): Promise<Seen> {
    await ice.query('ALTER SEQUENCE freezes RESTART');
    await ice.query(`
      CREATE FUNCTION stand_still() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
        IF position('${text}' in replace(current_query(), '''', '')) > 0 AND nextval('freezes') = 1 THEN
          PERFORM set_config('lock_timeout', '0', true);
          PERFORM pg_advisory_xact_lock(${ICE});
        END IF;
        RETURN NULL;
      END $body$`);
    await ice.query(
      'CREATE TRIGGER stand_still BEFORE UPDATE ON test_clock FOR EACH STATEMENT EXECUTE FUNCTION stand_still()',
    );
    await ice.query('SELECT pg_advisory_lock($1)', [ICE]);
    const frozen = advance(engine, TARGET, 'first');
    try {
      await untilSessionsWait(engine.database);
      await act();
    } finally {
      await ice.query('SELECT pg_advisory_unlock_all()');
      await frozen;
      await ice.query('DROP FUNCTION stand_still CASCADE');
    }
    return frozen;
  }

  /** Takes the advance over in the other process, and advances the clock further. */
  async function takeOver(key: string): Promise<void> {
    expect(await advance(other, TARGET, key)).toMatchObject([200, { now: TARGET }]);
    expect(await advance(other, LATER, 'later')).toMatchObject([200, { now: LATER }]);
  }

  async function expectLater(): Promise<void> {
    const { body } = await engine.http.get(`/v1/test-clocks/${story.clockId}`);
    expect(body).toMatchObject({ status: 'ready', now: LATER });
    expect(await story.invoices()).toHaveLength(4);
    await story.verify();
  }

  it.each([
    ['a move', 'greatest(instant'],
    ['its end', 'status = ready'],
  ])('changes the clock no more when it continues before %s', async (_step, text) => {
    const refused = [409, { code: 'test_clock_advancing' }, undefined];
    expect(await frozenBefore(text, () => takeOver('second'))).toMatchObject(refused);
    await expectLater();
  });

  it('gets the answer of the other process to the same idempotency key', async () => {
    const answer = await frozenBefore('status = ready', () => takeOver('first'));
    expect(answer).toMatchObject([200, { status: 'ready', now: TARGET }, 'true']);
    await expectLater();
  });

  it.each([
    ['fails', 'P0001', 'status = failed'],
    ['is interrupted', '55P03', 'SET target_at'],
  ])('does not end the advance of the other process when it %s', async (_end, code, text) => {
    await ice.query(`CREATE FUNCTION fail_job() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''${code}''; END'`);
    await ice.query(
      'CREATE TRIGGER fail_job BEFORE INSERT ON invoice FOR EACH STATEMENT EXECUTE FUNCTION fail_job()',
    );
    const [status, body] = await frozenBefore(text, async () => {
      await ice.query('DROP FUNCTION fail_job CASCADE');
      await takeOver('second');
    });
    expect([status, body]).toMatchObject([409, { code: 'test_clock_advancing' }]);
    await expectLater();
  });
});
