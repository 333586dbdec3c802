import { createAdmin, pageOf } from '../support/admins';
import { runCommand } from '../support/command';
import { bearing, BOOTSTRAP_KEY, WITH_KEYS } from '../support/keys';
import { startTestApp, type TestApp } from '../support/test-app';

const PASSWORD = 'Tr0ub4dor & zwölf Zeichen';

/** Each command is a process, which takes seconds on a busy machine. */
jest.setTimeout(240_000);

/** Runs `npm run studio` as it is run after the build, on the database of the service. */
describe('npm run studio', () => {
  let engine: TestApp;

  beforeAll(async () => {
    engine = await startTestApp({ environment: WITH_KEYS });
  });

  afterAll(() => engine.close());

  const run = (words: readonly string[], input = '') =>
    runCommand('studio', words, { databaseUrl: engine.databaseUrl, input });

  function signIn(email: string, password: string) {
    return engine.uncheckedHttp.post('/v1/session').send({ email, password });
  }

  it('creates the first admin as an owner and the next as an admin, who can sign in', async () => {
    const words = ['create-admin', '--password-stdin', '--email'];
    const first = await run([...words, 'Ada@example.com', '--name', 'Ada'], `${PASSWORD}\nrest\n`);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^admin_\w{26} {2}owner {2}Ada@example\.com {2}Ada\n$/);
    const second = await run([...words, 'grace@example.com'], PASSWORD);
    expect(second.stdout).toMatch(/ {2}admin {2}grace@example\.com {2}grace@example\.com\n$/);
    const third = await run([...words, 'eve@example.com', '--role', 'viewer'], PASSWORD);
    expect(third.stdout).toContain('viewer');

    const answer = await signIn('ada@example.com', PASSWORD);
    expect([answer.status, answer.body]).toEqual([
      201,
      expect.objectContaining({ scopes: ['*'], admin: expect.objectContaining({ name: 'Ada' }) }),
    ]);
    const rows = await engine.database.query<{ hash: string }>(
      'SELECT DISTINCT left(password_hash, 30) AS hash FROM studio_admin',
    );
    expect(rows).toEqual([{ hash: '$argon2id$v=19$m=19456,t=2,p=1' }]);
    expect((await run(['list'])).stdout.trim().split('\n')).toHaveLength(3);

    const again = await run([...words, 'ADA@example.com'], PASSWORD);
    expect(again).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('already exists'),
    });
  });

  it('sets a new password, which ends the sessions, and removes a second factor', async () => {
    const { email } = await createAdmin(engine, 'admin');
    const page = pageOf(await signIn(email, 'correct horse battery staple'));
    const changed = await run(['set-password', '--password-stdin', '--email', email], PASSWORD);
    expect(changed.stdout).toContain('has a new password');
    expect((await engine.uncheckedHttp.get('/v1/session').set(page)).status).toBe(401);
    expect((await signIn(email, PASSWORD)).status).toBe(201);

    const removed = await run(['remove-second-factor', '--email', email]);
    expect(removed).toMatchObject({ code: 1, stderr: expect.stringContaining('second factor') });
    const unknown = await run(['remove-second-factor', '--email', 'stranger@example.com']);
    expect(unknown.stderr).toContain('There is no studio admin "stranger@example.com".');
  });

  it('is the actor of its changes, in events and in the audit log', async () => {
    const words = ['create-admin', '--password-stdin', '--email', 'actor@example.com'];
    const { stdout } = await run(words, PASSWORD);
    const id = stdout.split(' ', 1)[0] ?? '';
    const actor = 'command:studio create-admin';
    expect(
      await engine.database.query('SELECT actor FROM event WHERE object_id = $1', [id]),
    ).toEqual([{ actor }]);
    const { body } = await engine.http
      .get(`/v1/audit-log?object_id=${id}&actor_id=${encodeURIComponent(actor)}`)
      .set(bearing(BOOTSTRAP_KEY));
    expect(body).toMatchObject({
      data: [
        { actor: { type: 'command', id: actor }, operation: null, request_id: null, address: null },
      ],
    });
  });

  it.each(['keys', 'studio'] as const)(
    '%s list prints a name as one cell of one line',
    async (command) => {
      const name = 'evil\u001b[2K\u009b1A\r\nkey_fake  …abcd  revoked\u202e';
      if (command === 'keys') {
        const key = { name, scopes: ['metrics:read'] };
        await engine.http.post('/v1/api-keys').set(bearing(BOOTSTRAP_KEY)).send(key).expect(201);
      } else {
        const words = ['--email', 'evil@example.com', '--name', name, '--password-stdin'];
        await run(['create-admin', ...words], PASSWORD);
      }
      const list = await runCommand(command, ['list'], { databaseUrl: engine.databaseUrl });
      const [line] = list.stdout.split('\n').filter((text) => text.includes('evil'));
      expect(line).toMatch(/ {2}evil \[2K 1A key_fake …abcd revoked$/);
      expect(list.stdout).not.toMatch(/[^\P{C}\n]/u);
    },
  );

  it.each([
    [[], '', 'create-admin'],
    [['create-admin', '--email', 'no-address', '--password-stdin'], PASSWORD, 'not an email'],
    [['create-admin', '--email', 'a@example.com', '--password-stdin'], 'short\n', '12 to 1000'],
    [['create-admin', '--email', 'a@example.com'], PASSWORD, '--password-stdin'],
  ])('refuses %j with %j', async (words, input, message) => {
    const result = await run(words, input);
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
    expect(result.stderr).not.toMatch(/\n {4}at /);
  });
});
