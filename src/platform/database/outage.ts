import { Logger } from '@nestjs/common';
import { isDatabaseOutOfReach } from './postgres-errors';

const TELL_EVERY_MS = 10_000;
/** So long nothing may have failed before the database is said to answer again: connections do not fail all at once. */
const QUIET_MS = 2_000;

interface Course {
  readonly beganAt: number;
  failedAt: number;
  toldAt: number;
  /** Since it was told last. */
  failures: number;
}

/** Tells when the database is out of reach, every 10 s while it is, and when it answers again. */
export class Outage {
  private readonly logger = new Logger('database');
  private course: Course | null = null;

  failed(error: unknown): void {
    if (!isDatabaseOutOfReach(error)) return;
    const now = performance.now();
    this.course ??= { beganAt: now, failedAt: now, toldAt: -Infinity, failures: 0 };
    this.course.failedAt = now;
    this.course.failures += 1;
    if (now - this.course.toldAt >= TELL_EVERY_MS) this.tell(this.course, error);
  }

  answered(): void {
    if (this.course === null || performance.now() - this.course.failedAt < QUIET_MS) return;
    const lastedMs = Math.round(this.course.failedAt - this.course.beganAt);
    this.course = null;
    this.logger.log({ lasted_ms: lastedMs }, 'the database answers again');
  }

  private tell(course: Course, error: unknown): void {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    const { failures, beganAt, failedAt } = course;
    // A name with several addresses fails with no message of its own.
    const reason = message || code;
    this.logger.error(
      { reason, code, failures, for_ms: Math.round(failedAt - beganAt) },
      'the database is out of reach or does not do its work: requests are answered 503, due work waits',
    );
    course.toldAt = failedAt;
    course.failures = 0;
  }
}
