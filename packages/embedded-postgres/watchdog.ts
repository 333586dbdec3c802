import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { CHILD_DIRECTORY, CHILD_ENVIRONMENT } from './commands';

export interface Watchdog {
  /**
   * Ends the watchdog. Call this after the server is stopped and its directory removed, so that the watchdog has
   * nothing left to do.
   */
  end(): Promise<void>;
}

/**
 * Shell script of the watchdog. Waits until its standard input ends, which happens when the process that started the
 * server ends, for any reason. Then stops the server and removes its directory. Signals a process only if its command
 * line contains the data directory.
 */
const WATCH = `
directory=$1
cluster=$1/cluster
is_server() {
  grep -qaF -e "$cluster" "/proc/$1/cmdline" || ps -o args= -p "$1" | grep -qF -e "$cluster"
}
cat
rounds=0
while [ -d "$directory" ] && [ "$rounds" -lt 150 ]; do
  pid=
  [ -f "$cluster/postmaster.pid" ] && read -r pid <"$cluster/postmaster.pid"
  if [ -n "$pid" ] && is_server "$pid"; then kill -INT "$pid"; else rm -rf -- "$directory"; fi
  rounds=$((rounds + 1))
  sleep 0.2
done
rm -rf -- "$directory"
`;

/**
 * Starts a process that stops an ephemeral server and removes `directory` when this process ends. It must be a separate
 * process, because no process can clean up after its own SIGKILL. It is a shell, which needs much less memory than a
 * second Node process. The script is a string, because the path of a file would differ between sources and build. The
 * watchdog waits for the end of a pipe, which closes as soon as this process ends. If it polled the id of this process,
 * it could mistake another process with the same id for it.
 */
export async function startWatchdog(directory: string): Promise<Watchdog> {
  const child = spawn('/bin/sh', ['-c', WATCH, 'billing-engine-postgres-watchdog', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: CHILD_DIRECTORY,
    env: { ...CHILD_ENVIRONMENT },
  });
  const hasEnded = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await once(child, 'spawn');
  // Neither the child nor its pipe may keep this process running.
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  child.stdin.on('error', () => undefined);
  return {
    end: () => {
      child.ref();
      child.stdin.end();
      return hasEnded;
    },
  };
}
