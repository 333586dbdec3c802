import { Client } from 'pg';

export default async function globalTeardown(): Promise<void> {
  const url = process.env['TEST_SERVER_URL'];
  delete process.env['TEST_SERVER_URL'];
  const { stopTestServer } = globalThis as { stopTestServer?: () => Promise<void> };
  if (stopTestServer !== undefined) {
    await stopTestServer();
    return;
  }
  const client = new Client({ connectionString: url ?? '' });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${process.env['TEST_TEMPLATE'] ?? ''} WITH (FORCE)`);
  await client.end();
}
