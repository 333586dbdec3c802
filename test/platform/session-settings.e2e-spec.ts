import { Client } from 'pg';
import { migrate, openConnection } from '../../src/platform/database';
import { catalogueOf } from '../support/catalogue';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { bearing, createKey, WITH_KEYS } from '../support/keys';
import { RunningService } from '../support/running-service';
import { startTestApp, type TestApp } from '../support/test-app';

/** Settings of the service, with a default that an administrator may have given to the database. */
const SETTINGS = [
  { name: 'TimeZone', value: 'UTC', other: 'Asia/Kathmandu' },
  { name: 'DateStyle', value: 'ISO, MDY', other: 'SQL, DMY' },
  { name: 'IntervalStyle', value: 'postgres', other: 'sql_standard' },
  { name: 'extra_float_digits', value: '1', other: '-15' },
  { name: 'bytea_output', value: 'hex', other: 'escape' },
  { name: 'standard_conforming_strings', value: 'on', other: 'off' },
  { name: 'array_nulls', value: 'on', other: 'off' },
  { name: 'gin_fuzzy_search_limit', value: '0', other: '1' },
  { name: 'default_transaction_isolation', value: 'read committed', other: 'repeatable read' },
  { name: 'transaction_timeout', value: '0', other: '1000' },
  { name: 'statement_timeout', value: '30000', other: '1000' },
  { name: 'idle_session_timeout', value: '0', other: '1000' },
  { name: 'idle_in_transaction_session_timeout', value: '45000', other: '1000' },
] as const;

const READ_SETTINGS = `SELECT name, setting AS value FROM pg_settings WHERE name = ANY ($1)`;
const NAMES = SETTINGS.map(({ name }) => name);

interface Setting {
  readonly name: string;
  readonly value: string;
}

function byName(settings: readonly Setting[]): Readonly<Record<string, string>> {
  return Object.fromEntries(settings.map(({ name, value }) => [name, value]));
}

/** Gives the database other defaults. Returns the names of the settings that the server knows. */
async function changeDefaults(url: string, ...statements: readonly string[]): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Setting>(READ_SETTINGS, [NAMES]);
    const known = rows.map(({ name }) => name);
    for (const { name, other } of SETTINGS.filter((setting) => known.includes(setting.name))) {
      await client.query(`ALTER DATABASE ${nameOf(url)} SET ${name} = '${other}'`);
    }
    for (const statement of statements) await client.query(statement);
    return known;
  } finally {
    await client.end();
  }
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

function expectedSettings(known: readonly string[], statementTimeoutMs: string) {
  return byName(
    SETTINGS.filter(({ name }) => known.includes(name)).map(({ name, value }) => ({
      name,
      value: name === 'statement_timeout' ? statementTimeoutMs : value,
    })),
  );
}

describe('a service on a database with other defaults', () => {
  let database: TestDatabase;
  let engine: TestApp;
  let known: readonly string[];
  let revoked: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    const before = await startTestApp({ databaseUrl: database.url, environment: WITH_KEYS });
    const key = await createKey(before, '*');
    await before.http
      .delete(`/v1/api-keys/${key.id}`)
      .set(bearing(WITH_KEYS.BOOTSTRAP_API_KEY))
      .expect(204);
    await before.close();
    revoked = key.secret;
    known = await changeDefaults(database.url);
    engine = await startTestApp({ databaseUrl: database.url, environment: WITH_KEYS });
  });

  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  const post = (path: string, body: object = {}) =>
    engine.http.post(`/v1/${path}`).set(bearing(WITH_KEYS.BOOTSTRAP_API_KEY)).send(body);

  it('has its own settings in every session', async () => {
    const ofPool = await engine.database.query<Setting>(READ_SETTINGS, [NAMES]);
    expect(byName(ofPool)).toEqual(expectedSettings(known, '30000'));
    const connection = await openConnection(database.url);
    const { rows } = await connection.query<Setting>(READ_SETTINGS, [NAMES]);
    await connection.end();
    expect(byName(rows)).toEqual(expectedSettings(known, '30000'));
  });

  it('refuses a key that was revoked before', async () => {
    const refused = await engine.http.get('/v1/customers').set(bearing(revoked));
    expect(refused.status).toBe(401);
  });

  it('reads instants as they were stored', async () => {
    const { body: created } = await post('customers', { name: 'Ada' }).expect(201);
    const { body } = await engine.http
      .get(`/v1/customers/${(created as { readonly id: string }).id}`)
      .set(bearing(WITH_KEYS.BOOTSTRAP_API_KEY));
    expect(body).toMatchObject({ created_at: engine.clock.now().toISOString() });
  });

  it('carries out concurrent commands of one customer', async () => {
    const { body: customer } = await post('customers', { name: 'Ada', currency: 'USD' });
    const draft = {
      customer_id: (customer as { readonly id: string }).id,
      collection: 'send_invoice',
      lines: [{ description: 'Work', amount: 5_000 }],
    };
    const drafts = await Promise.all(Array.from({ length: 6 }, () => post('invoices', draft)));
    const finalized = await Promise.all(
      drafts.map(({ body }) => post(`invoices/${(body as { readonly id: string }).id}/finalize`)),
    );
    expect(finalized.map(({ status }) => status)).toEqual(drafts.map(() => 200));
  });

  it('reports an instant that it cannot read, instead of reading it as null', async () => {
    const connection = await openConnection(database.url);
    try {
      for (const style of ['SQL, DMY', 'German', 'Postgres']) {
        await connection.query(`SET DateStyle = '${style}'`);
        await expect(connection.query('SELECT now()')).rejects.toThrow('DateStyle');
      }
      const { rows } = await connection.query('SELECT NULL::timestamptz AS at');
      expect(rows).toEqual([{ at: null }]);
    } finally {
      await connection.end();
    }
  });
});

it('a process in another time zone stores an instant as it was sent, whatever the former offset of the zone', async () => {
  const database = await createTestDatabase();
  // Until 1911, Paris was 9 minutes and 21 seconds ahead of UTC.
  const service = await RunningService.start(database.url, { ROLE: 'api', TZ: 'Europe/Paris' });
  try {
    const post = async <Body>(path: string, body: object) =>
      (await (await service.post(`/v1/${path}`, body)).json()) as Body;
    const { id } = await post<{ readonly id: string }>('customers', { name: 'Ada' });
    const sent = ['first', 'second'].map((key) => ({
      idempotency_key: key,
      customer_id: id,
      event_name: 'call',
      timestamp: '1900-01-01T00:00:00.000Z',
    }));
    // The first event of a customer is stored as text, and a later one as binary.
    for (const event of sent) {
      expect(await post('usage-events', event)).toMatchObject({ accepted: 1 });
    }
    expect(await post('usage-events', { events: sent })).toMatchObject({ duplicates: 2 });
    const list = await service.get(`/v1/usage-events?customer_id=${id}`);
    const { data } = (await list.json()) as { data: readonly { timestamp: string }[] };
    expect(data.map(({ timestamp }) => timestamp)).toEqual(sent.map(({ timestamp }) => timestamp));
  } finally {
    await service.kill();
    await database.drop();
  }
});

it('migrations have their own settings, and no time limit, whatever the defaults of the database are', async () => {
  const [database, usual] = await Promise.all([
    createTestDatabase('empty'),
    createTestDatabase('empty'),
  ]);
  try {
    await migrate(usual.url);
    const known = await changeDefaults(
      database.url,
      'CREATE SCHEMA observed',
      'CREATE TABLE observed.setting (name text, value text)',
      `CREATE FUNCTION observed.observe() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO observed.setting SELECT name, setting FROM pg_settings;
          PERFORM pg_sleep(1.2);
        END $$`,
      `CREATE EVENT TRIGGER observe ON ddl_command_end WHEN TAG IN ('CREATE EXTENSION')
        EXECUTE FUNCTION observed.observe()`,
    );
    await migrate(database.url);
    const client = await openConnection(database.url);
    const { rows } = await client.query<Setting>(
      'SELECT name, value FROM observed.setting WHERE name = ANY ($1)',
      [NAMES],
    );
    // Texts of the catalogue depend on these settings.
    await client.query(`ALTER DATABASE ${nameOf(database.url)} RESET ALL`);
    await client.query('DROP EVENT TRIGGER observe');
    await client.query('DROP SCHEMA observed CASCADE');
    await client.end();
    expect(byName(rows)).toEqual({
      ...expectedSettings(known, '0'),
      idle_session_timeout: '45000',
    });
    expect(await catalogueOf(database.url)).toEqual(await catalogueOf(usual.url));
  } finally {
    await database.drop();
    await usual.drop();
  }
});
