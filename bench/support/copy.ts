import { type Client, Query } from 'pg';

/**
 * Returns the rows of a query in the format that `copyIn` takes. `pg` handles the messages of `COPY` but has no method
 * for it.
 */
export function copyOut(client: Client, query: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const taken: Buffer[] = [];
    const copy = Object.assign(new Query(`COPY (${query}) TO STDOUT`), {
      callback: (error: Error | null) => {
        if (error === null) resolve(Buffer.concat(taken));
        else reject(error);
      },
      handleCopyData: ({ chunk }: { readonly chunk: Buffer }) => {
        taken.push(Buffer.from(chunk));
      },
    });
    client.query(copy);
  });
}
