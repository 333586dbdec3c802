import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres, type EmbeddedServer } from '../../packages/embedded-postgres';
import { run } from '../../packages/embedded-postgres/commands';
import { fastDirectory } from '../support/fast-directory';

const servers = new Set<EmbeddedServer>();

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

async function stopAll(): Promise<void> {
  for (const server of servers) await server.stop();
  servers.clear();
}

describe('an embedded server whose data is elsewhere', () => {
  let original: string;
  let data: string;

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
    await stopAll();
    await rm(dirname(original), { recursive: true });
  });

  async function copy(from: string, name: string): Promise<string> {
    const to = join(dirname(original), name);
    expect(await run('cp', ['-a', from, to])).toMatchObject({ succeeded: true });
    return to;
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

describe('a new directory in the place of another one', () => {
  let directory: string;
  const places = new Set<string>();

  beforeEach(async () => {
    // If root starts the server, the data is elsewhere, because the server's user cannot enter this directory.
    const parent = await mkdtemp(join(await fastDirectory(), 'embedded-postgres-places-'));
    directory = join(parent, 'original');
  });

  afterEach(async () => {
    await stopAll();
    for (const place of places) await rm(place, { recursive: true, force: true });
    places.clear();
    await rm(dirname(directory), { recursive: true });
  });

  async function placeOf(server: EmbeddedServer): Promise<string> {
    const place = String(await dataOf(server));
    places.add(place);
    return place;
  }

  it.each(['renamed', 'new'])(
    'has data of its own beside the renamed one, if the %s one starts first',
    async (first) => {
      const original = await placeOf(await start(directory));
      await stopAll();
      const renamed = join(dirname(directory), 'renamed');
      await rename(directory, renamed);
      const kept = original.replace(join(directory, '/'), join(renamed, '/'));

      const order = first === 'renamed' ? [renamed, directory] : [directory, renamed];
      const startBoth = async (): Promise<ReadonlyMap<string, string>> => {
        const started = new Map<string, EmbeddedServer>();
        for (const path of order) started.set(path, await start(path));
        const data = new Map<string, string>();
        for (const [path, server] of started) data.set(path, await placeOf(server));
        return data;
      };
      const data = await startBoth();
      expect(data.get(renamed)).toBe(kept);
      expect(data.get(directory)).not.toBe(kept);
      await stopAll();
      expect(await startBoth()).toEqual(data);
    },
  );

  // Other users keep their data in the directory.
  if (process.geteuid?.() === 0) {
    it('keeps the data of a deleted one, and stops the server that this one has left', async () => {
      const left = await start(directory);
      const data = await placeOf(left);
      await rm(directory, { recursive: true });
      expect(await placeOf(await start(directory))).not.toBe(data);
      await expect(dataOf(left)).rejects.toThrow();
      expect(await readdir(data)).toContain('PG_VERSION');
    });
  }
});
