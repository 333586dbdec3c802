import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { CHILD_DIRECTORY, CHILD_ENVIRONMENT } from './commands';

export interface Watchdog {
  /** Ends the watchdog. Call this after the server is stopped and its directory removed. */
  end(): Promise<void>;
}

/**
 * Shell script of the watchdog. Its standard input ends when the process that started the server ends, for whatever
 * reason. The script then stops the server and removes the server's directory. It signals a process only if the command
 * line of that process contains the data directory.
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
 * Starts the watchdog, a process that stops an ephemeral server and removes `directory` when this process ends. It must
 * be a separate process, because no process can clean up after its own SIGKILL. It is a shell, which needs much less
 * memory than a second Node process. The script is a string, because the path of a file would differ between sources
 * and build. The watchdog waits for the end of a pipe instead of polling the id of this process, because a later
 * process may get the same id.
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
