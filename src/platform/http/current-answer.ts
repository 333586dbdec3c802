import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Returns the answer that Node is writing to a connection, or waits to write to it; null if there is none. */
export function currentAnswer(connection: Duplex): ServerResponse | null {
  const { _httpMessage: response } = connection as {
    readonly _httpMessage?: ServerResponse | null;
  };
  return response ?? null;
}
