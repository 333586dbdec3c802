import { type ClientBase, Query } from 'pg';

/** Connection that `pg` passes to `handleCopyInResponse`. `pg` has no other support for COPY. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/**
 * Sends all rows with `COPY … FROM STDIN`.
 * @param rows in the text format of COPY
 */
export function copyIn(connection: ClientBase, statement: string, rows: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const copy = Object.assign(new Query(statement), {
      callback: (error: Error | null) => (error === null ? resolve() : reject(error)),
      handleCopyInResponse: (server: CopyConnection) => {
        server.sendCopyFromChunk(rows);
        server.endCopyFrom();
      },
    });
    connection.query(copy);
  });
}
