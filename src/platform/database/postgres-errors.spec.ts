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

it('a server without TLS is an outage of a database that must be reached with TLS', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.end('N')));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { readonly port: number };
  const error: unknown = await openConnection(
    `postgres://billing@127.0.0.1:${port}/x?sslmode=verify-full`,
  ).catch((reason: unknown) => reason);
  await new Promise((closed) => server.close(closed));
  expect(error).toMatchObject({ message: 'The server does not support SSL connections' });
  expect(isDatabaseOutOfReach(error)).toBe(true);
});

/** Returns an error of the database server, as `pg` makes it. */
function databaseError(code: string): Error {
  return Object.assign(new Error('It failed.'), { severity: 'FATAL', code });
}

it.each([
  ['08000', 'a broken connection'],
  ['08006', 'a connection that fails'],
  ['08P01', 'a pooler without a server'],
  ['25006', 'a replica'],
  ['25P03', 'a session that waited too long'],
  ['25P04', 'a transaction that took too long'],
  ['28000', 'a refused role'],
  ['28P01', 'a wrong password'],
  ['3D000', 'no such database'],
  ['53000', 'no resources'],
  ['53100', 'a full disk'],
  ['53200', 'no memory'],
  ['53300', 'too many connections'],
  ['55000', 'a database that accepts no connections'],
  ['57P01', 'a server that an operator stops'],
  ['57P02', 'a crash'],
  ['57P03', 'a server that starts'],
  ['57P04', 'a dropped database'],
  ['57P05', 'an idle session that was ended'],
  ['58000', 'a failure of the system'],
  ['58030', 'a failing disk'],
])('%s, %s, is an outage of the database', (code) => {
  expect(isDatabaseOutOfReach(databaseError(code))).toBe(true);
  expect(isDatabaseUnavailable(databaseError(code))).toBe(true);
});

it.each([
  ['55P03', 'a lock that was not given'],
  ['57014', 'a statement that took too long'],
])('%s, %s, says that the database is overloaded, not out of reach', (code) => {
  expect(isDatabaseOutOfReach(databaseError(code))).toBe(false);
  expect(isDatabaseUnavailable(databaseError(code))).toBe(true);
});

it.each([
  ['22P02', 'a value that is not valid'],
  ['23505', 'a duplicate'],
  ['25P02', 'a transaction that failed before'],
  ['42501', 'a missing privilege'],
  ['42703', 'an unknown column'],
  ['42P01', 'an unknown table'],
  ['XX000', 'a defect of the server'],
])('%s, %s, is a defect, no outage', (code) => {
  expect(isDatabaseUnavailable(databaseError(code))).toBe(false);
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
