import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Client } from 'pg';
import { DataSource } from 'typeorm';
import { ConfigurationError } from '../config';
import {
  Database,
  isConnectionLimit,
  openConnection,
  poolUseOf,
  Reports,
  ReservedConnection,
  type TimedQuery,
} from '../database';
import { serviceUnavailable } from '../errors';
import { EncryptionKeyUses, SEALING_LOCK_CLASS, SecretBox } from '../secrets';

/** First key of the advisory locks of processes. The second key is the number of the process. */
export const PROCESS_LOCK_CLASS = 720_575;
const RECONNECT_MS = 250;
const MAX_WAIT_FOR_NUMBER_MS = 3_000;
const CHECK_NUMBER_EVERY_MS = 25;
/** Times after which a process that waits for a connection of a pooler closes one of its own connections. */
const MAKE_ROOM_AFTER_MS = [1_000, 3_000];
/** Minimum number of connections that the pool keeps when the process needs a connection for its session. */
const MIN_POOL_CONNECTIONS = 1;

/** Reason why a process refuses work, as a sentence. */
export const NO_SESSION = 'This process has no session on the database.';

const TAKE_NUMBER = `
  SELECT number, pg_try_advisory_lock(${PROCESS_LOCK_CLASS}, number) AS taken
  FROM (SELECT nextval('process_number')::integer AS number) AS next`;

/** SQL that takes a shared lock on the id of the encrypting key, so that a key rotation does not retire the key. */
const SHARE_SEALING_KEY = `SELECT pg_advisory_lock_shared(${SEALING_LOCK_CLASS}, hashtext($1))`;

/**
 * Holds the connection that proves that this process is alive. The connection has an advisory lock on the number of the
 * process. Leases contain this number. As soon as the lock is free, other processes take the leases over.
 *
 * After a lost connection, the process gets a new number. Other processes may then take over work that this process is
 * still doing. Therefore they check the state of the work before they repeat any part. Without a number, the process
 * starts no work, because no other process could see that it died.
 */
@Injectable()
export class ProcessSession implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('process-session');
  private client: Client | null = null;
  private current: number | null = null;
  /** Time since which this process has had no number, on the clock of `performance.now()`. */
  private lostAt = performance.now();
  private reconnect: NodeJS.Timeout | null = null;
  private firstAttempt: Promise<void> | null = null;
  private stopped = false;
  private isFailing = false;
  private isMakingRoom = false;
  private readonly changeActions: (() => void)[] = [];

  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    private readonly reports: Reports,
    private readonly reservedConnection: ReservedConnection,
    private readonly secrets: SecretBox,
    private readonly keyUses: EncryptionKeyUses,
  ) {}

  get number(): number | null {
    return this.current;
  }

  /** Milliseconds for which this process has had no number; 0 while it has one. */
  get withoutNumberMs(): number {
    return this.current === null ? performance.now() - this.lostAt : 0;
  }

  /**
   * Returns the number of this process, for a lease. If the process has no number, waits up to 3 s for one. Do not call
   * this in a transaction.
   * @throws {ProblemError} `service_unavailable` when the process gets no number in time
   */
  async requireNumber(): Promise<number> {
    this.database.refuseTransaction('Waiting for the number of this process');
    const givesUpAt = performance.now() + MAX_WAIT_FOR_NUMBER_MS;
    while (this.current === null) {
      if (performance.now() >= givesUpAt) {
        throw serviceUnavailable(NO_SESSION);
      }
      await sleep(CHECK_NUMBER_EVERY_MS);
    }
    return this.current;
  }

  async onModuleInit(): Promise<void> {
    await this.waitForFirstAttempt();
  }

  /**
   * Waits until the first attempt to get a number has succeeded or failed.
   * @throws {ConfigurationError} when the encryption key was retired after the process checked its keys
   */
  waitForFirstAttempt(): Promise<void> {
    this.firstAttempt ??= this.connect();
    return this.firstAttempt;
  }

  /**
   * Registers an action that runs whenever the session has ended, and whenever a new session has begun. The actions
   * empty caches of rows, because the next session may be on a standby that lacks the last commits.
   */
  onChange(action: () => void): void {
    this.changeActions.push(action);
  }

  /** Closes the connection, which frees the number. Runs last in a shutdown, after work in flight has ended. */
  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    if (this.reconnect !== null) clearTimeout(this.reconnect);
    this.current = null;
    await this.client?.end().catch(() => undefined);
  }

  /**
   * Returns the rows of a statement. Sends it over the connection of this session, so that other work does not delay
   * the answer.
   * @param timeoutMs time limit for the answer
   * @throws {Error} when there is no connection, or when the statement fails; after a failure this process connects
   *   again
   */
  async query<Row extends object>(sql: string, timeoutMs: number): Promise<readonly Row[]> {
    const { client } = this;
    if (client === null) throw new Error(NO_SESSION);
    try {
      const question: TimedQuery = { text: sql, query_timeout: timeoutMs };
      return (await client.query<Row>(question)).rows;
    } catch (error) {
      this.handleLostConnection(client, error);
      throw error;
    }
  }

  /**
   * Connects and takes a number. If this fails, tries again later.
   * @throws {ConfigurationError} when the encryption key of this process was retired
   */
  private async connect(): Promise<void> {
    let client: Client | null = null;
    try {
      // While this process has no number it sends no other statements, so only these attempts can report an outage.
      const opened = await this.database.withOutageLog(this.open());
      client = opened;
      const ended: Error[] = [];
      const recordEnd = (error: Error): void => {
        ended.push(error);
        this.handleLostConnection(opened, error);
      };
      opened.on('error', recordEnd);
      opened.on('end', () => {
        recordEnd(new Error('The connection ended.'));
      });
      const number = await takeNumber(opened);
      await opened.query(SHARE_SEALING_KEY, [this.secrets.sealingKeyId]);
      // Checks the key again, because a rotation of the encryption keys may have retired it before this process had the
      // lock. Reads over this connection, because the pool may have no free connection.
      const query = async <Row extends object>(sql: string) => (await opened.query<Row>(sql)).rows;
      await this.keyUses.verify(this.secrets, query);
      // If the connection ended meanwhile, its lock is free, and the number must not be used.
      const [end] = ended;
      if (end !== undefined) throw end;
      if (this.stopped) {
        await opened.end();
        return;
      }
      this.current = number;
      this.client = opened;
      this.announceChange();
      if (this.isFailing) {
        this.logger.log({ number: this.current }, 'this process has a number again');
      }
      this.isFailing = false;
    } catch (error) {
      void client?.end().catch(() => undefined);
      if (this.stopped) return;
      if (error instanceof ConfigurationError) throw error;
      this.logFailure(error);
      if (isConnectionLimit(error)) this.makeRoom();
      this.connectAgain();
    }
  }

  /**
   * Opens a connection. If the first statement waits, for example because a pooler has no free connection, makes room
   * after 1 s and again after 3 s.
   */
  private async open(): Promise<Client> {
    let timers: NodeJS.Timeout[] = [];
    const planToMakeRoom = (): void => {
      timers = MAKE_ROOM_AFTER_MS.map((ms) => setTimeout(() => this.makeRoom(), ms));
    };
    try {
      return await openConnection(this.database.url, planToMakeRoom);
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  /** Closes a connection of this process, so that the server or a pooler has one for the session. */
  private makeRoom(): void {
    if (this.isMakingRoom) return;
    this.isMakingRoom = true;
    this.closeConnection()
      .catch(() => undefined)
      .finally(() => (this.isMakingRoom = false));
  }

  /**
   * Closes one connection of this process. Prefers an idle connection. Otherwise closes the next free connection of the
   * pool. Keeps at least {@link MIN_POOL_CONNECTIONS} in the pool.
   */
  private async closeConnection(): Promise<void> {
    if (await this.reports.closeIdleConnection()) return;
    const { idle, busy } = poolUseOf(this.dataSource);
    const canSpare = idle + busy > MIN_POOL_CONNECTIONS;
    const hasIdle = canSpare && idle > 0;
    if (!hasIdle && (await this.reservedConnection.closeIdleConnection())) return;
    if (canSpare) await this.database.withConnection(() => Promise.resolve());
  }

  private handleLostConnection(client: Client, error: unknown): void {
    if (this.client !== client || this.stopped) return;
    this.logFailure(error);
    this.client = null;
    this.current = null;
    this.lostAt = performance.now();
    this.announceChange();
    // A connection that timed out may still hold the lock.
    void client.end().catch(() => undefined);
    this.connectAgain();
  }

  private announceChange(): void {
    for (const action of this.changeActions) action();
  }

  /** Logs only the first failure of an outage, because `OutageLog` reports the rest. */
  private logFailure(error: unknown): void {
    if (this.isFailing) return;
    this.isFailing = true;
    const text = 'this process has lost its number: it begins no work until it has another';
    this.logger.warn({ err: error, number: this.current }, text);
  }

  private connectAgain(): void {
    if (this.stopped || this.reconnect !== null) return;
    this.reconnect = setTimeout(() => {
      this.reconnect = null;
      this.connect().catch((error: unknown) => {
        this.endProcess(error);
      });
    }, RECONNECT_MS);
  }

  /**
   * Stops the process, with exit code 1, because its encryption key was retired. Other processes could not decrypt
   * secrets that it would encrypt.
   */
  private endProcess(error: unknown): void {
    this.logger.fatal(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
    process.kill(process.pid, 'SIGTERM');
  }
}

/** Takes the next number whose lock is free. Numbers wrap around after 2^31. */
async function takeNumber(client: Client): Promise<number> {
  for (;;) {
    const { rows } = await client.query<{ number: number; taken: boolean }>(TAKE_NUMBER);
    const [row] = rows;
    if (row?.taken === true) return row.number;
  }
}
