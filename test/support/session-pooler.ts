import { once } from 'node:events';
import type { Socket } from 'node:net';
import { openServerStream, Pooler, WELCOME } from './pooler';

/**
 * A pooler like PgBouncer with `pool_mode = session`. It welcomes every client at once. A client then has a server
 * connection until it disconnects. At most `size` clients have one; the others wait, in the order of their arrival.
 */
export class SessionPooler extends Pooler {
  private readonly waiting: (() => void)[] = [];

  private constructor(
    databaseUrl: string,
    private free: number,
  ) {
    super(databaseUrl);
  }

  static before(databaseUrl: string, size: number): Promise<SessionPooler> {
    return new SessionPooler(databaseUrl, size).listen();
  }

  protected override async serve(client: Socket): Promise<void> {
    await once(client, 'data');
    client.pause();
    client.write(WELCOME);
    await this.enter();
    const stream = client.destroyed ? null : await openServerStream(this.databaseUrl);
    if (stream === null || client.destroyed) {
      stream?.destroy();
      this.leave();
      return;
    }
    client.on('close', () => stream.destroy());
    stream.on('close', () => {
      client.destroy();
      this.leave();
    });
    stream.pipe(client);
    client.pipe(stream);
  }

  private async enter(): Promise<void> {
    if (this.free === 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.free -= 1;
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  }
}
