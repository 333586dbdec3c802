import { setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_BETWEEN_ATTEMPTS_MS = 5;
const MAX_PAUSE_BETWEEN_ATTEMPTS_MS = 100;

/** Calls `attempt` until it returns anything but undefined, and returns that value; undefined after `timeoutMs`. */
export async function poll<T>(
  timeoutMs: number,
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs;
  let pauseMs = FIRST_PAUSE_BETWEEN_ATTEMPTS_MS;
  for (;;) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (performance.now() + pauseMs > deadline) return undefined;
    await pause(pauseMs);
    pauseMs = Math.min(pauseMs * 1.5, MAX_PAUSE_BETWEEN_ATTEMPTS_MS);
  }
}
