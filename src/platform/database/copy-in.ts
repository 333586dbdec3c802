import { type ClientBase, Query } from 'pg';

/** What `pg` asks of a query when the server is ready for the rows; its own refuses. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/**
 * Sends rows that are all there by `COPY … FROM STDIN`.
 * @param rows in the text format of COPY
 * @param timeoutMs for the answer, where it is not that of all statements
 */
export function copyIn(
  connection: ClientBase,
  statement: string,
  rows: Buffer,
  timeoutMs?: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const copy = Object.assign(new Query(statement), {
      ...(timeoutMs === undefined ? {} : { query_timeout: timeoutMs }),
      callback: (error: Error | null) => (error === null ? resolve() : reject(error)),
      handleCopyInResponse: (server: CopyConnection) => {
        server.sendCopyFromChunk(rows);
        server.endCopyFrom();
      },
    });
    connection.query(copy);
  });
}
