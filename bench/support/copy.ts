import type { Client, Submittable } from 'pg';

/** `COPY` through `pg`, which has the messages of it and no method. */

interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

const CHUNK_BYTES = 1 << 16;

class Copy {
  readonly taken: Buffer[] = [];
  private failure: Error | null = null;

  constructor(
    private readonly text: string,
    private readonly given: Buffer,
    private readonly done: (error: Error | null) => void,
  ) {}

  submit(connection: CopyConnection): void {
    connection.query(this.text);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    for (let from = 0; from < this.given.length; from += CHUNK_BYTES) {
      connection.sendCopyFromChunk(this.given.subarray(from, from + CHUNK_BYTES));
    }
    connection.endCopyFrom();
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.taken.push(Buffer.from(chunk));
  }

  handleCommandComplete(): void {
    // The end is `handleReadyForQuery`.
  }

  handleError(error: Error): void {
    this.failure = error;
  }

  handleReadyForQuery(): void {
    this.done(this.failure);
  }
}

async function copy(client: Client, text: string, given: Buffer): Promise<Buffer> {
  let query: Copy | null = null;
  await new Promise<void>((resolve, reject) => {
    query = new Copy(text, given, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
    client.query(query as unknown as Submittable);
  });
  return Buffer.concat((query as Copy | null)?.taken ?? []);
}

/** The rows of a query, as `copyIn` takes them. */
export function copyOut(client: Client, query: string): Promise<Buffer> {
  return copy(client, `COPY (${query}) TO STDOUT`, Buffer.alloc(0));
}

export async function copyIn(client: Client, table: string, rows: Buffer): Promise<void> {
  await copy(client, `COPY ${table} FROM STDIN`, rows);
}
