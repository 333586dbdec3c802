import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';

/**
 * Time for which the answer "no event is archived" is cached. `RemoveArchivedUsage` removes events at the earliest 15
 * minutes after they were archived. Until then, their keys are still found among the stored events, so a wrong answer
 * does no harm.
 */
const NONE_FOR_MS = 60_000;

/** Caches whether events are archived, so that the fast path looks up archived keys only if there are any. */
@Injectable()
export class ArchivedKeys {
  private exist = false;
  private noneUntilMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly database: Database) {}

  /**
   * Returns true if events are archived. The answer false may be a minute old. Queries the database at most once a
   * minute until the first event is archived, and never again afterwards.
   */
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
