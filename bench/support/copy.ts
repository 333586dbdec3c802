import { type Client, Query } from 'pg';

/** The rows of a query, as `copyIn` takes them; `pg` has the messages of `COPY` and no method. */
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
