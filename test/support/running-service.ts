import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';

const RUN_TS = join(__dirname, 'run-ts.cjs');
const ROOT = join(__dirname, '../..');

/** Runs the service as it is deployed: `src/main.ts` in a process of its own, on the clock of the machine. */
export class RunningService {
  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
    private readonly ended: Promise<unknown[]>,
    /** `performance.now()` when the service announced its address. */
    readonly readyAt: number,
    /** How long its start took, which shows how slow the machine is. */
    readonly startMs: number,
    /** Lines of its standard output. */
    private readonly output: readonly string[],
    private readonly lines: Interface,
  ) {}

  /**
   * Starts the service and resolves once it listens.
   * @param directory folder of the source code; default: this project
   */
  static async start(
    databaseUrl: string,
    environment: Readonly<Record<string, string>> = {},
    directory = ROOT,
  ): Promise<RunningService> {
    const startedAt = performance.now();
    const service: ChildProcessByStdio<null, Readable, null> = spawn(
      process.execPath,
      [RUN_TS, join(directory, 'src/main.ts')],
      {
        env: {
          ...process.env,
          DATABASE_URL: databaseUrl,
          PORT: '0',
          LOG_LEVEL: 'fatal',
          ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
          ...environment,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const ended = once(service, 'exit');
    const output: string[] = [];
    const lines = createInterface(service.stdout);
    const announced = new Promise<string>((resolve, reject) => {
      lines
        .on('line', (line) => {
          output.push(line);
          const [, url] = /^Billing engine: (.*)$/.exec(line) ?? [];
          if (url !== undefined) resolve(url);
        })
        .on('close', () => reject(new Error('The service ended before it listened.')));
    });
    const url = await announced;
    const readyAt = performance.now();
    return new RunningService(url, service, ended, readyAt, readyAt - startedAt, output, lines);
  }

  /** @param timeoutMs time limit of the request */
  async post(
    path: string,
    body: object,
    headers: Record<string, string> = {},
    timeoutMs = 300_000,
  ): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      signal: AbortSignal.timeout(timeoutMs),
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers });
  }

  log(): readonly Readonly<Record<string, unknown>>[] {
    return this.output
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Stops reading the standard output, as a log collector that hangs does. */
  pauseLog(): void {
    this.lines.pause();
  }

  resumeLog(): void {
    this.lines.resume();
  }

  /** Asks the process to end, and returns its exit code. */
  async stop(): Promise<unknown> {
    this.process.kill('SIGTERM');
    const [code] = await this.ended;
    return code;
  }

  /** Waits until the process ends by itself, and returns its exit code. */
  async untilEnded(): Promise<unknown> {
    const [code] = await this.ended;
    return code;
  }

  /** Kills the process like `kill -9`. Does nothing if the process has ended. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }
}
