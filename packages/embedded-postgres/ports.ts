import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { readIfExists } from './files';

export const LOOPBACK = '127.0.0.1';

/** File with the port of the last start. The next start reuses the port, so that settings of other tools stay valid. */
const PORT_FILE = 'postgres-port';

/**
 * Chooses a port for the server: the requested one; otherwise the port of the last start, if it is free; otherwise any
 * free port. Another program can still take the port before the server does.
 *
 * @throws {EmbeddedPostgresError} when the requested port is taken
 */
export async function choosePort(directory: string, wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) {
    if ((await listen(wanted)) !== undefined) return wanted;
    throw new EmbeddedPostgresError(
      `Port ${wanted} of ${LOOPBACK} is taken by another program, or not ours to use. Choose another port for the embedded database.`,
    );
  }
  const last = Number(await readIfExists(join(directory, PORT_FILE)));
  const port = isPort(last) ? ((await listen(last)) ?? (await listen(0))) : await listen(0);
  if (port !== undefined) return port;
  throw new EmbeddedPostgresError(`No port of ${LOOPBACK} is free for the embedded database.`);
}

/** Overwrites the port file in place, so that it keeps its owner when root writes. Half a number does no harm. */
export async function rememberPort(directory: string, port: number): Promise<void> {
  await writeFile(join(directory, PORT_FILE), `${port}\n`);
}

function isPort(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value < 65_536;
}

/** Listens on a port (0: any free port) for a moment. Returns the port, or undefined if it cannot be used. */
function listen(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address();
      const taken = typeof address === 'object' ? address?.port : undefined;
      server.close(() => {
        resolve(taken);
      });
    });
  });
}
