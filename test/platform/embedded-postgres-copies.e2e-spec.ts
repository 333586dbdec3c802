import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres, type EmbeddedServer } from '../../packages/embedded-postgres';
import { run } from '../../packages/embedded-postgres/commands';
import { fastDirectory } from '../support/fast-directory';

describe('an embedded server whose data is elsewhere', () => {
  let original: string;
  let data: string;
  const servers = new Set<EmbeddedServer>();

  beforeEach(async () => {
    const parent = await mkdtemp(join(await fastDirectory(), 'embedded-postgres-copies-'));
    await chmod(parent, 0o755);
    original = join(parent, 'original');
    data = join(parent, 'elsewhere');
    await (await start(original)).stop();
    await rename(join(original, 'cluster'), data);
    await writeFile(join(original, 'postgres-cluster'), `${data}\n`);
  });

  afterEach(async () => {
    for (const server of servers) await server.stop();
    servers.clear();
    await rm(dirname(original), { recursive: true });
  });

  async function start(directory: string): Promise<EmbeddedServer> {
    const server = await startEmbeddedPostgres({
      directory,
      database: 'engine',
      log: () => undefined,
      settings: { fsync: 'off' },
    });
    servers.add(server);
    return server;
  }

  async function copy(from: string, name: string): Promise<string> {
    const to = join(dirname(original), name);
    expect(await run('cp', ['-a', from, to])).toMatchObject({ succeeded: true });
    return to;
  }

  async function dataOf({ connectionString }: EmbeddedServer): Promise<unknown> {
    const client = new Client({ connectionString });
    await client.connect();
    try {
      const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
      return rows[0]?.data_directory;
    } finally {
      await client.end();
    }
  }

  it('refuses a copy of its directory, which would share the data, until it names a copy of the data', async () => {
    const copied = await copy(original, 'copied');
    const ownData = await copy(data, 'data-of-copy');
    const server = await start(original);
    await expect(start(copied)).rejects.toThrow(`${copied} is a copy of ${original}`);
    await writeFile(join(copied, 'postgres-cluster'), ownData);
    const second = await start(copied);
    expect(await dataOf(second)).toBe(ownData);
    await second.stop();
    expect(await dataOf(server)).toBe(data);
    await start(copied);
  });

  it.each(['of the directory', 'that is empty'])(
    'starts in its renamed directory with a mark %s, and then refuses a copy',
    async (mark) => {
      const file = join(data, 'billing-engine-complete');
      if (mark === 'that is empty') await writeFile(file, '');
      const renamed = join(dirname(original), 'renamed');
      await rename(original, renamed);
      expect(await dataOf(await start(renamed))).toBe(data);
      expect(await readFile(file, 'utf8')).toBe(`${renamed}\n`);
      const copied = await copy(renamed, 'copied');
      await expect(start(copied)).rejects.toThrow(`${copied} is a copy of ${renamed}`);
    },
  );
});
