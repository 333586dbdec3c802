import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCustomer } from '../support/metering';
import { bearing, BOOTSTRAP_KEY, WITH_KEYS } from '../support/keys';
import { startTestApp, type TestApp } from '../support/test-app';
import { until } from '../support/until';

const SCRIPT = join(__dirname, '../../scripts/import-events.mjs');

describe('import-events', () => {
  let engine: TestApp;
  let directory: string;

  beforeAll(async () => {
    engine = await startTestApp();
    directory = await mkdtemp(join(tmpdir(), 'import-events-'));
  });

  afterAll(async () => {
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function importFile(file: string, ...options: readonly string[]) {
    return runScript({}, file, '--url', await engine.app.getUrl(), '--lines', '100', ...options);
  }

  function runScript(
    environment: Readonly<Record<string, string>>,
    ...options: readonly string[]
  ): Promise<{ code: number; out: string; error: string }> {
    const env = { ...process.env, ...environment };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [SCRIPT, ...options], { env }, (_f, out, error) => {
        resolve({ code: child.exitCode ?? -1, out: out.replace(/, [\d.]+ s\n$/, ''), error });
      });
    });
  }

  const lineOf =
    (customer: string, prefix: string) =>
    (number: number): string =>
      JSON.stringify({
        idempotency_key: `${prefix}-${number}`,
        customer_id: customer,
        event_name: 'imported',
        timestamp: '2026-02-01T00:00:00Z',
      });

  it('sends a file in portions, continues where it stopped, and writes rejected events to a file', async () => {
    const line = lineOf(await createCustomer(engine), 'import');
    const lines = Array.from({ length: 250 }, (_, number) => line(number));
    lines[120] = '';
    lines[121] = ' \t\r';
    lines[199] = '{}';
    lines[230] = line(0);
    const file = join(directory, 'events.ndjson');
    await writeFile(file, lines.join('\n'));

    const first = await importFile(file);
    expect(first).toMatchObject({ code: 1, error: '' });
    expect(first.out).toBe(`250 lines: 246 accepted, 1 duplicates, 1 rejected (${file}.rejected)`);
    const refused = JSON.parse(await readFile(`${file}.rejected`, 'utf8')) as object;
    expect(refused).toMatchObject({ line: 200, code: 'validation_failed' });

    const again = await importFile(file);
    expect(again.error).toContain('Going on after 250 lines');
    const restarted = await importFile(file, '--restart');
    expect(restarted.out).toContain('250 lines: 0 accepted, 247 duplicates, 1 rejected');
  });

  it('sends lines that were appended to a file, also if the last line was incomplete before', async () => {
    const line = lineOf(await createCustomer(engine), 'grown');
    const file = join(directory, 'grown.ndjson');
    // Longer than the part by which files are distinguished.
    const lines = Array.from({ length: 600 }, (_, number) => `${line(number)}\n`);
    const half = line(600).slice(0, 40);
    await writeFile(file, [...lines, half]);
    expect((await importFile(file)).out).toContain('601 lines: 600 accepted');

    await writeFile(file, [...lines, `${line(600)}\n${line(601)}\n`]);
    const grown = await importFile(file);
    expect(grown).toMatchObject({
      code: 0,
      out: '602 lines: 2 accepted, 600 duplicates, 0 rejected',
    });

    await writeFile(file, [...lines, `${line(600)}\n${line(601)}\n${line(602)}`]);
    const again = await importFile(file);
    expect(again.error).toContain('Going on after 602 lines');
    expect(again.out).toBe('603 lines: 3 accepted, 600 duplicates, 0 rejected');
  });

  it('sends only the new lines of a small file that has grown', async () => {
    const line = lineOf(await createCustomer(engine), 'small');
    const file = join(directory, 'small.ndjson');
    await writeFile(file, `${line(0)}\n`);
    await importFile(file);
    await writeFile(file, `${line(0)}\n${line(1)}\n`);
    const again = await importFile(file);
    expect(again.error).toContain('Going on after 1 lines');
    expect(again.out).toBe('2 lines: 2 accepted, 0 duplicates, 0 rejected');
  });

  it('sends all lines of a corrected file again, also if its length and first lines are the same', async () => {
    const line = lineOf(await createCustomer(engine), 'edited');
    const file = join(directory, 'edited.ndjson');
    const lines = Array.from({ length: 800 }, (_, number) => line(number));
    await writeFile(file, [...lines, '{}'.padEnd(line(800).length), line(801)].join('\n'));
    expect((await importFile(file)).out).toContain('802 lines: 801 accepted');

    await writeFile(file, [...lines, line(800), line(801)].join('\n'));
    const corrected = await importFile(file);
    expect(corrected).toEqual({
      code: 0,
      error: '',
      out: '802 lines: 1 accepted, 801 duplicates, 0 rejected',
    });
  });

  it('sends all lines to another URL, and does not show results of earlier runs as its own', async () => {
    const other = await startTestApp();
    try {
      const file = join(directory, 'moved.ndjson');
      const customers = [await createCustomer(engine), await createCustomer(other)];
      await writeFile(file, customers.map((id) => lineOf(id, 'moved')(0)).join('\n'));
      const summary = `2 lines: 1 accepted, 0 duplicates, 1 rejected (${file}.rejected)`;
      expect((await importFile(file)).out).toBe(summary);

      const url = await other.app.getUrl();
      const moved = await runScript({}, file, '--url', url);
      expect(moved).toEqual({ code: 1, error: '', out: summary });
      const again = await runScript({}, file, '--url', url);
      expect(again.error).toContain(`Going on after 2 lines, which were sent to ${url} until 2`);
      expect(again.out).toBe(`No new lines. Earlier runs: ${summary}`);
    } finally {
      await other.close();
    }
  });

  it('sends all lines again if another installation answers at the URL, or one restored from a backup', async () => {
    const other = await startTestApp();
    let target = await engine.app.getUrl();
    const proxy = createServer((incoming, answer) => {
      const { method, headers } = incoming;
      const forwarded = request(`${target}${incoming.url}`, { method, headers }, (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      });
      incoming.pipe(forwarded);
    }).listen(0, '127.0.0.1');
    try {
      await once(proxy, 'listening');
      const file = join(directory, 'proxied.ndjson');
      const customers = [await createCustomer(engine), await createCustomer(other)];
      const lines = customers.map((customer) => lineOf(customer, 'proxied'));
      // The other installation rejects the events of the first customer and accepts those of the second.
      const numbers = Array.from({ length: 150 }, (_, number) => number);
      await writeFile(
        file,
        numbers.flatMap((number) => lines.map((line) => line(number))).join('\n'),
      );
      const { port } = proxy.address() as AddressInfo;
      const options = [file, '--url', `http://127.0.0.1:${port}`, '--lines', '100'];
      expect((await runScript({}, ...options)).out).toContain('300 lines: 150 accepted');

      target = await other.app.getUrl();
      const restored = await runScript({}, ...options);
      expect(restored.error).toContain('does not answer as in the last run. Sending all lines');
      expect(restored.out).toContain('300 lines: 150 accepted, 0 duplicates, 150 rejected');
      expect((await runScript({}, ...options)).error).toContain('Going on after 300 lines');
    } finally {
      proxy.close();
      await other.close();
    }
  });

  it('reports lines that are too long by their numbers, and sends the others', async () => {
    const line = lineOf(await createCustomer(engine), 'long');
    const file = join(directory, 'long.ndjson');
    const mostBytes = 1_048_576;
    const ofBytes = (bytes: number): string => line(bytes).padEnd(bytes);
    const lines = [
      ...Array.from({ length: 150 }, (_, number) => line(number)),
      ofBytes(mostBytes),
      ofBytes(mostBytes + 1),
      '{}',
      'x'.repeat(5 * mostBytes),
      line(150),
      // Without a line feed at the end.
      ofBytes(2 * mostBytes),
    ];
    await writeFile(file, lines.join('\n'));

    const summary = `156 lines: 152 accepted, 0 duplicates, 4 rejected (${file}.rejected)`;
    expect(await importFile(file)).toEqual({ code: 1, error: '', out: summary });
    const refused = (await readFile(`${file}.rejected`, 'utf8')).trim().split('\n');
    expect(refused.map((text) => JSON.parse(text) as object)).toMatchObject([
      { line: 152, code: 'payload_too_large' },
      { line: 153, code: 'validation_failed' },
      { line: 154, code: 'payload_too_large' },
      { line: 156, code: 'payload_too_large' },
    ]);
    expect((await importFile(file)).error).toContain('Going on after 156 lines');
  });

  it('sends all lines again if its state is damaged', async () => {
    const line = lineOf(await createCustomer(engine), 'damaged');
    const file = join(directory, 'damaged.ndjson');
    await writeFile(file, line(0));
    await importFile(file);
    for (const text of ['', '{"url"', 'null']) {
      await writeFile(`${file}.import`, text);
      expect(await importFile(file)).toEqual({
        code: 0,
        error: `${file}.import is damaged. Sending all lines again.\n`,
        out: '1 lines: 0 accepted, 1 duplicates, 0 rejected',
      });
    }
    expect((await importFile(file)).error).toContain('Going on after 1 lines');
  });

  it('names a rejected line once, if it was interrupted before it wrote its state', async () => {
    const line = lineOf(await createCustomer(engine), 'interrupted');
    const file = join(directory, 'interrupted.ndjson');
    await writeFile(file, [line(0), '{}\n'].join('\n'));
    await importFile(file);
    const state = await readFile(`${file}.import`);
    await writeFile(file, [line(0), '{}', line(1), '{}\n'].join('\n'));
    await importFile(file);
    const rejected = await readFile(`${file}.rejected`, 'utf8');
    const numbers = rejected
      .trim()
      .split('\n')
      .map((one) => (JSON.parse(one) as { line: number }).line);
    expect(numbers).toEqual([2, 4]);

    await writeFile(`${file}.import`, state);
    expect((await importFile(file)).error).toContain('Going on after 2 lines');
    expect(await readFile(`${file}.rejected`, 'utf8')).toBe(rejected);

    await rm(`${file}.rejected`);
    await writeFile(`${file}.import`, state);
    await importFile(file);
    expect(await readFile(`${file}.rejected`, 'utf8')).toBe(
      rejected.split('\n').slice(1).join('\n'),
    );
  });

  it('sends an API key, and waits as long as its rate limit asks', async () => {
    const secured = await startTestApp({ environment: WITH_KEYS });
    try {
      const administer = async (path: string, body: object) => {
        const sent = secured.http.post(path).set(bearing(BOOTSTRAP_KEY)).send(body);
        return (await sent.expect(201)).body as { id: string; secret: string };
      };
      const { id } = await administer('/v1/customers', { name: 'Ada Lovelace' });
      const { secret } = await administer('/v1/api-keys', {
        name: 'Import',
        scopes: ['usage:write'],
        usage_requests_per_minute: 1,
      });
      const file = join(directory, 'secured.ndjson');
      const line = lineOf(id, 'secured');
      await writeFile(file, [line(0), line(1)].join('\n'));
      const options = [file, '--url', await secured.app.getUrl(), '--lines', '1'];
      expect(await runScript({}, ...options)).toMatchObject({
        code: 1,
        error: expect.stringContaining('401'),
      });

      // A second before the minute of the limit ends.
      secured.clock.advanceMs(59_000 - (secured.clock.now().getTime() % 60_000));
      const run = runScript({ API_KEY: secret }, ...options);
      await until('the first event is stored', async () => {
        const stored = await secured.http
          .get(`/v1/usage-events?customer_id=${id}`)
          .set(bearing(BOOTSTRAP_KEY));
        return (stored.body as { data: readonly unknown[] }).data.length === 1;
      });
      secured.clock.advanceMs(1_000);
      expect((await run).out).toContain('2 lines: 2 accepted');
    } finally {
      await secured.close();
    }
  });

  it('explains its arguments', async () => {
    for (const file of [directory, join(directory, 'nothing')]) {
      expect(await importFile(file)).toMatchObject({ code: 1, error: `Cannot read ${file}.\n` });
    }
    const unknown = await importFile('events.ndjson', '--unknown');
    expect(unknown.error).toMatch(/^Unknown option '--unknown'[^]*Usage: [^]*API_KEY/);
  });
});
