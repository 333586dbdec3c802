import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { readIfThere } from './files';

export const LOOPBACK = '127.0.0.1';

/** The port of the last start, so that tools outside can keep their settings. */
const PORT_FILE = 'postgres-port';

/**
 * The port to start on: the wanted one, else the one of last time if it is free, else a free one. Another program may take
 * it before the server does; the server then ends, and this is asked again.
 *
 * @throws {EmbeddedPostgresError} when the wanted port is taken
 */
export async function choosePort(directory: string, wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) {
    if ((await listen(wanted)) !== undefined) return wanted;
    throw new EmbeddedPostgresError(
      `Port ${wanted} of ${LOOPBACK} is taken by another program, or not ours to use. Choose another port for the embedded database.`,
    );
  }
  const last = Number(await readIfThere(join(directory, PORT_FILE)));
  const port = isPort(last) ? ((await listen(last)) ?? (await listen(0))) : await listen(0);
  if (port !== undefined) return port;
  throw new EmbeddedPostgresError(`No port of ${LOOPBACK} is free for the embedded database.`);
}

/** In place, so that the file stays its owner's when root writes it; half a number is no port, which does no harm. */
export async function rememberPort(directory: string, port: number): Promise<void> {
  await writeFile(join(directory, PORT_FILE), `${port}\n`);
}

function isPort(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value < 65_536;
}

/** Listens for a moment; gives the port that was listened on, undefined when that is impossible. 0 means any. */
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
