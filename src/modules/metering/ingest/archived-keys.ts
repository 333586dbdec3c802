import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';

/**
 * Time for which the answer that no event is archived is cached. It is shorter than the 15 minutes after which
 * `RemoveArchivedUsage` removes archived events. Until then, their keys are found among the stored events.
 */
const NONE_FOR_MS = 60_000;

/** Caches whether events are archived, so that the fast path looks up archived keys only if there are any. */
@Injectable()
export class ArchivedKeys {
  private exist = false;
  private noneUntilMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly database: Database) {}

  /**
   * Returns true once events are archived. Queries the database at most once a minute until then, and never again afterwards.
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
