import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { WebhookSecretsService } from '../../src/modules/webhooks/webhook-secrets.service';
import { newId } from '../../src/platform/ids';
import {
  EncryptionKeyUses,
  KeyRotation,
  SEALING_LOCK_CLASS,
  SealedColumns,
  SecretBox,
} from '../../src/platform/secrets';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { contentsOfTables } from '../support/leaks';
import { untilSessionsWait } from '../support/lock-waits';
import { looksForWriters, openTransaction } from '../support/open-transaction';
import { sessionOf } from '../support/process-sessions';
import { RunningService } from '../support/running-service';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const RUN_TS = join(__dirname, '../support/run-ts.cjs');
const KEYS = join(__dirname, '../../src/keys.ts');
/** Three batches of the command. */
const SECRETS = 2_500;

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const OLD = key('old', 1);
const NEW = key('new', 2);
const FURTHER = key('further', 3);

interface Ended {
  readonly code: unknown;
  readonly output: string;
  readonly failure: string;
}

describe('the rotation of encryption keys', () => {
  let database: TestDatabase;
  const apps: TestApp[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await database.drop();
  });

  async function start(keys: string): Promise<TestApp> {
    const app = await startTestApp({
      databaseUrl: database.url,
      environment: { LOG_LEVEL: 'silent', ENCRYPTION_KEYS: keys },
    });
    apps.push(app);
    return app;
  }

  async function stop(app: TestApp): Promise<void> {
    apps.splice(apps.indexOf(app), 1);
    await app.close();
  }

  function spawnRotation(keys: string) {
    const child = spawn(process.execPath, [RUN_TS, KEYS, 'rotate-encryption'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        DATABASE_URL: database.url,
        ENCRYPTION_KEYS: keys,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
      ([[code], output, failure]): Ended => ({ code: code as unknown, output, failure }),
    );
    return { child, ended };
  }

  const rotate = (keys: string): Promise<Ended> => spawnRotation(keys).ended;

  async function addEndpoint({ http }: TestApp): Promise<string> {
    const { body } = await http
      .post('/v1/webhooks/endpoints')
      .send({ url: 'https://example.com/hook', events: ['*'] })
      .expect(201);
    return (body as { id: string }).id;
  }

  const createKey = async ({ http }: TestApp): Promise<unknown> =>
    (
      await http
        .post('/v1/api-keys')
        .set('Idempotency-Key', 'first')
        .send({ name: 'K', scopes: ['*'] })
        .expect(201)
    ).body;

  const secretOf = async ({ http }: TestApp, endpoint: string): Promise<unknown> =>
    (await http.get(`/v1/webhooks/endpoints/${endpoint}/secret`).expect(200)).body;

  /** Adds secrets of an endpoint directly, because the API keeps only a few of each. */
  async function addSecrets(app: TestApp, endpoint: string): Promise<void> {
    const ids = Array.from({ length: SECRETS }, () => newId('whs'));
    const box = app.app.get(SecretBox);
    await app.database.query(
      `INSERT INTO webhook_secret (id, endpoint_id, sealed, created_at, expires_at)
       SELECT id, $1, sealed, now(), '2099-01-01' FROM unnest($2::text[], $3::text[]) AS made (id, sealed)`,
      [endpoint, ids, ids.map((id) => box.seal('whsec_x', id))],
    );
  }

  async function countSealed(app: TestApp, keyId: string): Promise<number> {
    const [row] = await app.database.query<{ count: number }>(
      'SELECT count(*)::integer FROM webhook_secret WHERE starts_with(sealed, $1)',
      [`v1:${keyId}:`],
    );
    return row?.count ?? 0;
  }

  it('continues after it was killed, beside a running process, and then refuses the old key', async () => {
    const before = await start(OLD);
    const endpoint = await addEndpoint(before);
    const [secret, apiKey] = [await secretOf(before, endpoint), await createKey(before)];
    await addSecrets(before, endpoint);
    await stop(before);

    const running = await start(`${NEW},${OLD}`);
    const first = spawnRotation(`${NEW},${OLD}`);
    await running.database.transaction(async () => {
      // The command waits for this row in its last batch.
      await running.database.query(
        'SELECT FROM webhook_secret ORDER BY id DESC LIMIT 1 FOR UPDATE',
      );
      await until('two batches', async () => (await countSealed(running, 'new')) >= 2_000);
      await untilSessionsWait(running.database);
      first.child.kill('SIGKILL');
      await first.ended;
      // Its statement would otherwise go on once the row is free.
      await running.database.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
    });
    expect(await countSealed(running, 'old')).toBeGreaterThan(0);
    expect(await secretOf(running, endpoint)).toEqual(secret);
    await expect(start(NEW)).rejects.toThrow(/encryption key old, which this process does not/);
    await expect(start(`${OLD},${NEW}`)).rejects.toThrow(/old was retired by rotate-encryption/);
    const between = await addEndpoint(running);

    const second = await rotate(`${NEW},${OLD}`);
    expect(second).toMatchObject({ code: 0, failure: '' });
    expect(second.output).toContain('All stored secrets are encrypted with new. Retired: old.\n');
    expect(await contentsOfTables(running, 'encryption_key_use')).not.toContain('v1:old:');
    expect((await rotate(`${NEW},${OLD}`)).output).toContain('webhook_secret: 0 encrypted again\n');
    const audit = await running.http.get('/v1/audit-log?object_id=old').expect(200);
    const entry = (after: string) => ({
      actor: { type: 'command', id: 'command:keys rotate-encryption' },
      changes: [{ action: 'encryption_key.updated', changes: { status: { after } } }],
    });
    expect(audit.body).toMatchObject({ data: [entry('retired'), entry('retiring')] });

    const after = await start(NEW);
    expect(await secretOf(after, endpoint)).toEqual(secret);
    expect(await secretOf(after, between)).toEqual(await secretOf(running, between));
    expect(await createKey(after)).toEqual(apiKey);
    await expect(start(OLD)).rejects.toThrow(/encryption key new, which this process does not/);
    await expect(start(`${OLD},${NEW}`)).rejects.toThrow(
      /old was retired .* replaced it first: new/,
    );
    await start(`${NEW},${OLD}`);
  });

  it('does not begin while a process seals with the old key', async () => {
    const running = await start(`${OLD},${NEW}`);
    const endpoint = await addEndpoint(running);
    const refused = await rotate(`${NEW},${OLD}`);
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.failure).toMatch(/^A running process seals with the encryption key old\./);
    expect(await countSealed(running, 'old')).toBe(1);
    await stop(running);
    expect((await rotate(`${NEW},${OLD}`)).code).toBe(0);
    await secretOf(await start(NEW), endpoint);
  });

  it('waits for the transactions of processes that sealed with the old key and have ended', async () => {
    const before = await start(OLD);
    const endpoint = await addEndpoint(before);
    const id = newId('whs');
    const sealed = before.app.get(SecretBox).seal('whsec_x', id);
    await stop(before);

    const running = await start(`${NEW},${OLD}`);
    const commit = await openTransaction(running.database, () =>
      running.database.query(
        `INSERT INTO webhook_secret (id, endpoint_id, sealed, created_at, expires_at)
         VALUES ($1, $2, $3, now(), '2099-01-01')`,
        [id, endpoint, sealed],
      ),
    );
    const looks = await looksForWriters(running.databaseUrl);
    const codes: unknown[] = [];
    const rotation = rotate(`${NEW},${OLD}`).then(({ code }) => codes.push(code));
    await until('it waits, or ends', async () => codes.length > 0 || (await looks())).finally(
      commit,
    );
    await rotation;
    expect(codes).toEqual([0]);
    expect([await countSealed(running, 'old'), await countSealed(running, 'new')]).toEqual([0, 2]);
  });

  it('retires no key if a process began to seal with a further key meanwhile', async () => {
    await stop(await start(OLD));
    const running = await start(`${NEW},${OLD}`);
    const columns = running.app.get(SealedColumns).all;
    // The rotation waits for this transaction at its last column.
    const commit = await openTransaction(running.database, () =>
      running.database.query(`LOCK TABLE ${columns.at(-1)?.table} IN ROW EXCLUSIVE MODE`),
    );
    const { child, ended } = spawnRotation(`${NEW},${OLD}`);
    let output = '';
    child.stdout.on('data', (data) => (output += String(data)));
    try {
      await until('all columns before are done', () => {
        return output.split('encrypted again').length === columns.length;
      });
      const further = await start(`${FURTHER},${NEW},${OLD}`);
      // Its answer contains a secret, and is stored in a column that is done.
      const apiKey = await createKey(further);
      await stop(further);
      await commit();
      const refused = await ended;
      expect(refused.code).toBe(1);
      expect(refused.failure).toMatch(/^A process began to seal with the encryption key further /);
      await expect(start(NEW)).rejects.toThrow(/encryption key further, which this process/);
      const again = await rotate(`${NEW},${FURTHER},${OLD}`);
      expect(again).toMatchObject({ code: 0, failure: '' });
      expect(await createKey(await start(NEW))).toEqual(apiKey);
    } finally {
      await commit();
    }
  });

  /** Ends the session of a process that goes on answering, as in a stop, or while it cannot connect again. */
  const endSession = (app: TestApp): Promise<void> => sessionOf(app).onApplicationShutdown();

  it('leaves no secret behind that a process without a session seals with the old key', async () => {
    const before = await start(OLD);
    const endpoint = await addEndpoint(before);
    await endSession(before);
    expect((await rotate(`${NEW},${OLD}`)).code).toBe(0);

    const refused = [
      await before.http
        .post('/v1/webhooks/endpoints')
        .send({ url: 'https://example.com/other', events: ['*'] }),
      await before.http.post(`/v1/webhooks/endpoints/${endpoint}/rotate-secret`),
      await before.http
        .post('/v1/api-keys')
        .set('Idempotency-Key', 'second')
        .send({ name: 'K', scopes: ['*'] }),
      // Its refusal would be stored, encrypted like an answer.
      await before.http
        .post('/v1/api-keys/key_01h455vb4pex5vsknk084sn02q/roll')
        .set('Idempotency-Key', 'third')
        .send({}),
    ];
    expect(refused.map(({ status, body }) => [status, (body as { code: string }).code])).toEqual(
      refused.map(() => [503, 'service_unavailable']),
    );
    expect(await countSealed(before, 'old')).toBe(0);
    const keys = await before.database.query('SELECT FROM idempotency_key');
    expect(keys).toEqual([]);
    await secretOf(await start(NEW), endpoint);
  });

  it('does not begin while a transaction of a process without a session seals with the old key', async () => {
    const before = await start(OLD);
    const commit = await openTransaction(before.database, () =>
      before.app.get(SecretBox).sealToStore('whsec_x', newId('whs')),
    );
    await endSession(before);
    const refused = await rotate(`${NEW},${OLD}`);
    expect(refused.failure).toMatch(/^A running process seals with the encryption key old\./);
    await commit();
    expect((await rotate(`${NEW},${OLD}`)).code).toBe(0);
  });

  it('stores no text with its key once another rotation retires that key', async () => {
    const before = await start(OLD);
    const endpoint = await addEndpoint(before);
    await stop(before);
    const first = await start(`${NEW},${OLD}`);
    const commit = await openTransaction(first.database, () =>
      first.database.query('LOCK TABLE webhook_secret IN ROW EXCLUSIVE MODE'),
    );
    const looks = await looksForWriters(first.databaseUrl);
    const rotation = first.app.get(KeyRotation).run(() => undefined);
    rotation.catch(() => undefined);
    await until('it waits for the transaction', looks).finally(() => endSession(first));
    const second = await start(`${FURTHER},${NEW},${OLD}`);
    await endSession(second);
    // The first step of another rotation.
    await second.app.get(EncryptionKeyUses).retireOthers('further', 'retiring').finally(commit);
    await expect(rotation).rejects.toThrow('The encryption key of this process was retired.');
    expect(await countSealed(first, 'new')).toBe(0);
    expect((await rotate(`${FURTHER},${NEW},${OLD}`)).code).toBe(0);
    await secretOf(await start(FURTHER), endpoint);
  });

  const RETIRE = `UPDATE encryption_key_use SET status = 'retiring' WHERE key_id = 'old'`;

  it('is noticed by a process that checks its key before and shares it after', async () => {
    await stop(await start(OLD));
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(`SELECT pg_advisory_lock(${SEALING_LOCK_CLASS}, hashtext('old'))`);
    const failure = start(OLD).catch((error: unknown) => String(error));
    await until('the process waits for the lock on its key', async () => {
      const { rowCount } = await client.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event = 'advisory'`,
      );
      return rowCount === 1;
    });
    await client.query(RETIRE);
    await client.end();
    expect(await failure).toMatch(/encryption key old was retired by rotate-encryption/);
  });

  it('ends a process that lost its session while its key was retired', async () => {
    const running = await RunningService.start(database.url, { ENCRYPTION_KEYS: OLD, ROLE: 'api' });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(RETIRE);
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory' AND classid = ${SEALING_LOCK_CLASS} AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    await client.end();
    expect(await running.untilEnded()).toBe(1);
  });

  it('keeps the old key while a secret cannot be opened, and names that secret', async () => {
    const before = await start(OLD);
    const [good, bad] = [await addEndpoint(before), await addEndpoint(before)];
    const [row] = await before.database.query<{ id: string }>(
      `UPDATE webhook_secret SET sealed = sealed || 'AAAA' WHERE endpoint_id = $1 RETURNING id`,
      [bad],
    );
    await stop(before);
    const failed = await rotate(`${NEW},${OLD}`);
    expect(failed.code).toBe(1);
    expect(failed.failure).toContain(`1 stored secrets cannot be opened`);
    expect(failed.failure).toContain(`webhook_secret ${row?.id}`);
    await expect(start(NEW)).rejects.toThrow(/encryption key old, which this process does not/);
    const between = await start(`${NEW},${OLD}`);
    await secretOf(between, good);
    await between.http.delete(`/v1/webhooks/endpoints/${bad}`).expect(204);
    expect((await rotate(`${NEW},${OLD}`)).code).toBe(0);
    await start(NEW);
  });

  it('deletes webhook secrets that have expired, also if they cannot be opened', async () => {
    const before = await start(OLD);
    const endpoint = await addEndpoint(before);
    await before.database.query(
      `INSERT INTO webhook_secret (id, endpoint_id, sealed, created_at, expires_at)
       VALUES ($1, $2, 'v1:lost:AAAA', now(), '2020-01-01')`,
      [newId('whs'), endpoint],
    );
    await stop(before);
    expect(await rotate(`${NEW},${OLD}`)).toMatchObject({ code: 0, failure: '' });
    const after = await start(NEW);
    expect(await after.database.query('SELECT FROM webhook_secret')).toHaveLength(1);
    await secretOf(after, endpoint);
  });

  it('loses no webhook secret that a process without its key replaces', async () => {
    const behind = await start(OLD);
    const ahead = await start(`${NEW},${OLD}`);
    const endpoint = await addEndpoint(ahead);
    const first = await secretOf(ahead, endpoint);
    const path = `/v1/webhooks/endpoints/${endpoint}/rotate-secret`;
    const { body: second } = await behind.http.post(path).expect(200);
    const { secret } = second as { secret: string };
    const valid = await ahead.app
      .get(WebhookSecretsService)
      .validSecretsByEndpoint([endpoint], ahead.clock.now());
    expect(valid.get(endpoint)?.map((text) => ({ secret: text }))).toEqual([{ secret }, first]);
  });

  it('knows every column that holds sealed texts', async () => {
    const app = await start(OLD);
    const columns = await app.database.query<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name LIKE '%sealed%' AND table_name <> 'encryption_key_use'`,
    );
    const registered = app.app
      .get(SealedColumns)
      .all.map(({ table, column }) => `${table}.${column}`);
    expect(registered).toEqual(
      expect.arrayContaining(['idempotency_key.answer_body', ...columns.map(({ name }) => name)]),
    );
  });
});
