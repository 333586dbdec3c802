import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';

/** The first archived events are removed 15 minutes after they were archived; until then their keys are found among the stored events. */
const NONE_FOR_MS = 60_000;

/** Knows whether keys of events may belong to archived ones, so that the fast path looks for them only if so. */
@Injectable()
export class ArchivedKeys {
  private exist = false;
  private noneUntilMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly database: Database) {}

  /** Reads it at most once a minute, and never again after the first events were archived. */
  async mayExist(): Promise<boolean> {
    const nowMs = performance.now();
    if (this.exist || nowMs < this.noneUntilMs) return this.exist;
    const [row] = await this.database.query<{ exist: boolean }>(
      'SELECT EXISTS (SELECT FROM usage_archive_file) AS exist',
    );
    this.exist = row?.exist === true;
    this.noneUntilMs = nowMs + NONE_FOR_MS;
    return this.exist;
  }
}
