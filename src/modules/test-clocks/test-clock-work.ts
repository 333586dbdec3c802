import { Injectable } from '@nestjs/common';

/** Due work that follows test clocks: the same that runs by the real clock, asked for one clock at a time. */
export interface TestClockWork {
  /** kebab-case, unique */
  readonly name: string;
  /** When the next piece falls due among what lives on the clock; null when nothing is planned. */
  readonly nextDueAt: (testClockId: string) => Promise<Date | null>;
  /** Does the pieces that fall due up to the instant the clock shows. */
  readonly runDue: (testClockId: string, now: Date) => Promise<void>;
}

/** The modules with due work register it here; whoever moves a clock runs it. */
@Injectable()
export class TestClockWorks {
  private readonly works: TestClockWork[] = [];

  register(work: TestClockWork): void {
    this.works.push(work);
  }

  /** The earliest instant at which something falls due on the clock, and whose it is. */
  async next(testClockId: string): Promise<{ work: TestClockWork; dueAt: Date } | null> {
    let earliest: { work: TestClockWork; dueAt: Date } | null = null;
    for (const work of this.works) {
      const dueAt = await work.nextDueAt(testClockId);
      if (dueAt !== null && (earliest === null || dueAt < earliest.dueAt)) {
        earliest = { work, dueAt };
      }
    }
    return earliest;
  }
}
