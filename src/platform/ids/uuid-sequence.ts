import { randomUUID } from 'node:crypto';

/** Difference from the database that the clock of a process may have. It may be set back by as much (decision 36). */
const MAX_CLOCK_DIFFERENCE_MS = 5_000;

const MAX_COUNTER = 0xfff;

/**
 * Makes UUIDv7 that sort in the order in which they were made (RFC 9562, section 6.2, method 1), also while the clock is
 * a little behind the last one. If the clock is further behind, the last one was made at a wrong time or the clock is
 * wrong now, and the next one begins at the clock again. The package `uuid` would keep the wrong time for all later ones.
 */
export class UuidSequence {
  private lastMs = 0;
  /** The first two parts of a UUID made at `lastMs`. */
  private time = '';
  private counter = 0;

  /** @param nowMs milliseconds since 1970 */
  next(nowMs: number): string {
    const random = randomUUID();
    if (nowMs > this.lastMs || nowMs < this.lastMs - MAX_CLOCK_DIFFERENCE_MS) {
      this.begin(nowMs, random);
    } else if (this.counter < MAX_COUNTER) {
      this.counter += 1;
    } else {
      this.begin(this.lastMs + 1, random);
    }
    // The variant and 62 random bits are those of the UUIDv4.
    return `${this.time}-${(0x7000 | this.counter).toString(16)}${random.slice(18)}`;
  }

  /** Begins a millisecond with a random counter, in the lower half so that more than 2,000 UUIDs can follow. */
  private begin(ms: number, random: string): void {
    const digits = ms.toString(16).padStart(12, '0');
    this.lastMs = ms;
    this.time = `${digits.slice(0, 8)}-${digits.slice(8)}`;
    this.counter = Number.parseInt(random.slice(0, 3), 16) >>> 1;
  }
}
