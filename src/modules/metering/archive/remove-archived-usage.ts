import { Injectable, Logger } from '@nestjs/common';
import { Configuration } from '../../../platform/config';
import { Database } from '../../../platform/database';
import { DamagedReads } from '../../../platform/observability';
import type { RecordedFile } from '../domain/archive-file';
import { ArchiveDirectory } from './archive-directory';
import { ArchiveMetrics } from './archive-metrics';
import { ArchivedEventsRepository, type WindowEdge } from './archived-events.repository';
import { UsageArchiveRepository } from './usage-archive.repository';

/**
 * Minimum time between the commit that records the keys of archived events and the commit that deletes the events. It
 * is longer than any statement may run (ten minutes). A statement that checks whether a key was used therefore always
 * finds the key, either among the archived keys or among the stored events.
 */
const PAUSE_MS = 15 * 60_000;

/** Time for which the verification of a file is valid. Afterwards, the file is verified again before a deletion. */
const VERIFIED_FOR_MS = 3_600_000;

const MONTHS_PER_STEP = 200;
const FILES_PER_STEP = 20;
const EVENTS_PER_STEP = 2_000;

/**
 * Deletes archived events from the database in small commits. A file is read again within the hour before its events
 * are deleted, and must match its recorded digest. Each commit also checks that the files exist with their recorded
 * sizes.
 */
@Injectable()
export class RemoveArchivedUsage {
  private readonly logger = new Logger('usage-archive');

  constructor(
    private readonly database: Database,
    private readonly archive: UsageArchiveRepository,
    private readonly events: ArchivedEventsRepository,
    private readonly configuration: Configuration,
    private readonly metrics: ArchiveMetrics,
    private readonly damagedReads: DamagedReads,
  ) {}

  /**
   * Verifies the next files or, if all are verified, deletes the next events. Returns false if nothing is left to do,
   * or if a file is missing or damaged.
   * @param windowEdges returns the starts and ends of usage windows that may be opened for these customers later.
   *   Called while the months are locked: a request that opens such a window waits for this lock
   *   (`UsageWindows.requireCountable`)
   */
  removeNext(
    now: Date,
    windowEdges: (customerIds: readonly string[]) => Promise<readonly WindowEdge[]>,
  ): Promise<boolean> {
    const { usageArchive } = this.configuration;
    if (usageArchive === null) return Promise.resolve(false);
    return this.database.transaction(async () => {
      const writtenBy = new Date(now.getTime() - PAUSE_MS);
      const months = await this.events.claim(writtenBy, MONTHS_PER_STEP);
      if (months.length === 0) return false;
      const directory = new ArchiveDirectory(usageArchive.directory);
      await directory.requireMounted(await this.archive.lastFileOfNewestMonth());
      const files = await this.archive.filesOf(months);
      const changed = await directory.findChanged(files);
      if (changed !== undefined) return this.reportDamaged(changed);
      const verifiedBefore = new Date(now.getTime() - VERIFIED_FOR_MS);
      const unverified = files.filter(
        ({ verifiedAt }) => verifiedAt === null || verifiedAt < verifiedBefore,
      );
      if (unverified.length > 0) {
        return this.verify(unverified.slice(0, FILES_PER_STEP), directory, now);
      }
      const edges = await windowEdges([...new Set(months.map(({ customerId }) => customerId))]);
      const removed = await this.events.remove(months, edges, EVENTS_PER_STEP, now);
      this.database.afterCommit(() => {
        this.metrics.removed.inc(removed);
      });
      this.logger.log({ events: removed }, 'removed archived usage events');
      return true;
    });
  }

  /** Reads files again. Returns false at the first file that is missing or lacks its recorded size or digest. */
  private async verify(
    files: readonly RecordedFile[],
    directory: ArchiveDirectory,
    now: Date,
  ): Promise<boolean> {
    for (const file of files) {
      if (!(await directory.matches(file))) return this.reportDamaged(file);
      await this.events.setVerified(file, now);
    }
    return true;
  }

  private reportDamaged({ name }: RecordedFile): false {
    this.damagedReads.report('usage_file', [name]);
    return false;
  }
}
