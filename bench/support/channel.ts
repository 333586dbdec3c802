import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/**
 * A separate process that runs jobs. The measured code, its upper bound and the load generator run in different
 * processes, so that none of them slows the event loop of another.
 */
export interface Worker<Job, Result> {
  request(job: Job): Promise<Result>;
  stop(): Promise<void>;
}

type Reply<Result> = { readonly result: Result } | { readonly error: string };

const RUN_TYPESCRIPT = resolve('test/support/run-ts.cjs');

export interface WorkerOptions {
  readonly environment?: NodeJS.ProcessEnv;
  /** If false, its standard output is discarded. */
  readonly showsOutput?: boolean;
  readonly nodeOptions?: readonly string[];
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Ends all children that still run, and waits for them. */
export async function endChildren(): Promise<void> {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([...children].map((child) => once(child, 'exit')));
}

/** Makes sure that the child is killed when this process exits. */
export function keepTrackOf(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/**
 * Starts a process.
 * @param file under bench/processes
 */
export function startWorker<Job, Result>(
  file: string,
  options: WorkerOptions = {},
): Worker<Job, Result> {
  const child = fork(RUN_TYPESCRIPT, [resolve('bench/processes', file)], {
    env: options.environment ?? process.env,
    execArgv: [...(options.nodeOptions ?? [])],
    serialization: 'advanced', // dates stay dates
    stdio: ['ignore', options.showsOutput === false ? 'ignore' : 'inherit', 'inherit', 'ipc'],
  });
  keepTrackOf(child);
  const ended = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`${file} ended with code ${code}.`)));
  });
  ended.catch(() => undefined);
  return {
    request: (job) => Promise.race([reply<Result>(child, job), ended]),
    stop: () => stopChild(child),
  };
}

function reply<Result>(child: ChildProcess, job: unknown): Promise<Result> {
  return new Promise((done, failed) => {
    child.once('message', (message) => {
      const answer = message as Reply<Result>;
      if ('error' in answer) failed(new Error(answer.error));
      else done(answer.result);
    });
    child.send(job as object);
  });
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await exited;
}

/** Runs in the child. Answers one job after the other until the parent asks it to stop. */
export function answerJobs(work: (job: never) => Promise<unknown>): void {
  process.on('message', (job) => {
    work(job as never).then(
      (result) => process.send?.({ result } satisfies Reply<unknown>),
      (error: unknown) =>
        process.send?.({ error: error instanceof Error ? (error.stack ?? '') : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}
