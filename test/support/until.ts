const PAUSE_MS = 20;

/** Waits until a condition holds. After the time limit, throws an error that contains the description `what`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 30_000,
): Promise<void> {
  const givesUpAt = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > givesUpAt) throw new Error(`${what}: not within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
