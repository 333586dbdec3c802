import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { CHILD_DIRECTORY, CHILD_ENVIRONMENT } from './commands';

export interface Watchdog {
  /** Ends it; it finds nothing to do when the server is stopped and its directory removed. */
  end(): Promise<void>;
}

/**
 * Waits for the end of its input, which comes when its owner ends in whatever way, and then stops the server and removes
 * the directory. A process number is only believed when that process has the data directory on its command line.
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
 * Watches over an ephemeral server from a process of its own, as nobody can clean up after their own SIGKILL. A shell needs
 * a fraction of the memory of a second Node process, and no script file that would have to be found from source and build.
 * The pipe tells it of our end at once, and cannot take another process for us, as polling a process number could.
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
  // Neither it nor the pipe to it may keep our process from ending.
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
