import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Client } from 'pg';
import { Configuration } from '../config';
import { Database, openConnection } from '../database';
import { Jobs } from './jobs';

const CHANNEL = 'billing_due_work';
/**
 * Time for which names of due work are collected, in milliseconds. All collected names are sent with one NOTIFY,
 * because PostgreSQL commits transactions with NOTIFY one after the other.
 */
const BURST_MS = 50;
const RECONNECT_MS = 1_000;

/** Notifies all processes that work has become due. A missed notification only delays the work until the next poll. */
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

  /**
   * Wakes the named work in this process at once, and in other processes soon. Call it after the commit. While this
   * process stops, its connections may be closed already. Other processes then find the work at their next poll.
   */
  announce(name: string): void {
    this.jobs.wake(name);
    if (this.stopped) return;
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
      this.logger.warn(
        { err: error },
        'NOTIFY failed; other processes find due work at their next poll',
      );
    }
  }

  private async listen(): Promise<void> {
    let client: Client | null = null;
    try {
      client = await openConnection(this.database.url);
      client.on('notification', ({ payload }) => {
        if (payload !== undefined) this.jobs.wake(payload);
      });
      client.on('error', (error) => {
        this.logger.warn(
          { err: error },
          'the connection that listens for due work was lost; reconnecting',
        );
        this.listenAgain();
      });
      await client.query(`LISTEN ${CHANNEL}`);
      if (this.stopped) await client.end();
      else this.listener = client;
    } catch (error) {
      void client?.end().catch(() => undefined);
      if (this.stopped) return;
      this.logger.warn({ err: error }, 'LISTEN failed; falling back to polling');
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
