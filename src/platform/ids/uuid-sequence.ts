import { randomUUID } from 'node:crypto';

/**
 * Maximum difference between the clocks of a process and of the database, in milliseconds. A clock may be set back by
 * up to this time (decision 36).
 */
const MAX_CLOCK_DIFFERENCE_MS = 5_000;

const MAX_COUNTER = 0xfff;

/**
 * Makes UUIDv7 that sort in the order in which they were made (RFC 9562, section 6.2, method 1). They also do if the
 * clock is set back by at most {@link MAX_CLOCK_DIFFERENCE_MS}. If the clock is set back further, the earlier or the
 * present time is wrong, and the sequence continues from the present time. The package `uuid` would instead keep the
 * earlier time for ever.
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
