import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Returns the response whose turn it is on a connection, even if nothing of it was written yet; null if there is none.
 */
export function currentAnswer(connection: Duplex): ServerResponse | null {
  const { _httpMessage: response } = connection as {
    readonly _httpMessage?: ServerResponse | null;
  };
  return response ?? null;
}
