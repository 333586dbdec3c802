import { createServer } from 'node:net';
import { openConnection } from './connection-settings';
import { isDatabaseOutOfReach, isDatabaseUnavailable } from './postgres-errors';

/** Returns the address of a port without a listener. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  await new Promise((closed) => server.close(closed));
  return `127.0.0.1:${port}`;
}

it('a refused connection to the database is an outage of the database', async () => {
  const error: unknown = await openConnection(`postgres://billing@${await closedPort()}/x`).catch(
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  expect(isDatabaseOutOfReach(error)).toBe(true);
});

it.each([
  ['a refused connection to a provider or mail server', 'ECONNREFUSED'],
  ['a connection to them that was reset', 'ECONNRESET'],
  ['an unknown host', 'ENOTFOUND'],
  ['a missing file', 'ENOENT'],
  ['a code of another system that looks like a class of SQLSTATEs', '53500'],
  ['a number', 535],
])('%s is no outage of the database', (_, code) => {
  expect(isDatabaseUnavailable(Object.assign(new Error('It failed.'), { code }))).toBe(false);
});
