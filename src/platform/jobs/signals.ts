import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Client } from 'pg';
import { Configuration } from '../config';
import { Database } from '../database';
import { Jobs } from './jobs';

const CHANNEL = 'billing_due_work';
/** NOTIFY takes a lock that all commits share, so each process sends at most one burst in this time. */
const BURST_MS = 50;
const RECONNECT_MS = 1_000;

/**
 * Tells every process that work has become due. Only a wake-up: whoever misses it finds the work at its next look, so
 * nothing rests on its arrival.
 */
@Injectable()
export class Signals implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('signals');
  private readonly waiting = new Set<string>();
  private burst: NodeJS.Timeout | null = null;
  private listener: Client | null = null;
  private reconnect: NodeJS.Timeout | null = null;
  private stopped = false;

  constructor(
    private readonly jobs: Jobs,
    private readonly database: Database,
    private readonly configuration: Configuration,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.configuration.doesDueWork) await this.listen();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    if (this.burst !== null) clearTimeout(this.burst);
    if (this.reconnect !== null) clearTimeout(this.reconnect);
    await this.listener?.end().catch(() => undefined);
  }

  /** Wakes the work of this name here at once, and in the other processes soon. Call it after the commit. */
  announce(name: string): void {
    this.jobs.wake(name);
    this.waiting.add(name);
    this.burst ??= setTimeout(() => void this.send(), BURST_MS);
  }

  private async send(): Promise<void> {
    this.burst = null;
    const names = [...this.waiting];
    this.waiting.clear();
    try {
      await this.database.query('SELECT pg_notify($1, name) FROM unnest($2::text[]) AS name', [
        CHANNEL,
        names,
      ]);
    } catch (error) {
      this.logger.warn({ err: error }, 'other processes were not woken');
    }
  }

  private async listen(): Promise<void> {
    const client = new Client({ connectionString: this.database.url });
    client.on('notification', ({ payload }) => {
      if (payload !== undefined) this.jobs.wake(payload);
    });
    client.on('error', (error) => {
      this.logger.warn({ err: error }, 'the connection that hears of due work is lost');
      this.listenAgain();
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      this.listener = client;
    } catch (error) {
      this.logger.warn({ err: error }, 'cannot hear of due work');
      await client.end().catch(() => undefined);
      this.listenAgain();
    }
  }

  private listenAgain(): void {
    this.listener = null;
    if (this.stopped || this.reconnect !== null) return;
    this.reconnect = setTimeout(() => {
      this.reconnect = null;
      void this.listen();
    }, RECONNECT_MS);
  }
}
