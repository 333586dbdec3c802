import { Clock } from '../../src/platform/clock';

/** A clock that moves only when a test moves it. */
export class ManualClock extends Clock {
  constructor(private instant: Date = new Date('2026-03-01T09:30:00.000Z')) {
    super();
  }

  override now(): Date {
    return new Date(this.instant);
  }

  set(instant: string): void {
    this.instant = new Date(instant);
  }

  advanceMs(milliseconds: number): void {
    this.instant = new Date(this.instant.getTime() + milliseconds);
  }
}
