import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';

/**
 * Time for which the answer "no event is archived" is cached. An outdated answer does no harm: archived events are
 * deleted at least 15 minutes later (`RemoveArchivedUsage`). Until then, ingest finds their keys among stored events.
 */
const NONE_FOR_MS = 60_000;

/** Caches whether any event is archived. While no event is archived, ingest does not look up archived keys. */
@Injectable()
export class ArchivedKeys {
  private exist = false;
  private noneUntilMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly database: Database) {}

  /**
   * Returns true if events are archived. The answer false may be a minute old. The database is queried at most once a
   * minute, and never again once the answer is true.
   */
  async mayExist(): Promise<boolean> {
    const nowMs = performance.now();
    if (this.exist || nowMs < this.noneUntilMs) return this.exist;
    const sql = 'SELECT EXISTS (SELECT FROM usage_archive_file)';
    this.exist = (await this.database.queryValue<boolean>(sql)) === true;
    this.noneUntilMs = nowMs + NONE_FOR_MS;
    return this.exist;
  }
}
