import { Injectable } from '@nestjs/common';
import { raise } from '../../platform/errors';
import { Database, type Page, type PageRequest, untilWritersEnd } from '../../platform/database';
import { AuditChain } from './audit-chain';
import { AuditLogRepository } from './audit-log.repository';
import { auditEntryNotFound } from './audit.errors';
import type { AuditEntry, AuditFilter, ExportedChange } from './domain/audit-entry';
import { SealsRepository } from './seals.repository';

const CHANGES_PER_READ = 500;
/**
 * Number of positions that one read of an export covers. The number is high, because only few of the changes may match
 * an actor or operation.
 */
const POSITIONS_PER_READ = 10_000n;
/**
 * Maximum number of changes that an export finds by the entries of an actor or operation. With more changes, it reads
 * all.
 */
const MAX_LISTED = 10_000;
/**
 * Number of positions up to which an export reads all changes, without looking for the entries of the actor. The actor
 * may have far more entries outside this range.
 */
const FEW_POSITIONS = 2n * POSITIONS_PER_READ;

/** Longest time for which an export waits for the end of open transactions that have written changes. */
const LONGEST_WAIT_MS = 2_000;

@Injectable()
export class AuditLogService {
  constructor(
    private readonly database: Database,
    private readonly log: AuditLogRepository,
    private readonly seals: SealsRepository,
    private readonly chain: AuditChain,
  ) {}

  list(filter: AuditFilter, request: PageRequest): Promise<Page<AuditEntry>> {
    return this.log.page(filter, request);
  }

  /** @throws {ProblemError} `audit_entry_not_found` */
  async get(id: string): Promise<AuditEntry> {
    return (await this.log.find(id)) ?? raise(auditEntryNotFound(id));
  }

  /**
   * Yields the matching changes after a position, oldest first, at the pace of the reader. Stops before the first
   * position at which an open transaction may still add a change. A later export can therefore continue without a gap.
   * After each read, yields null, so that the reader can stop while nothing matches.
   */
  async *export(filter: AuditFilter, position: bigint): AsyncGenerator<ExportedChange | null> {
    const to = await this.finalPosition();
    const readsEntries = filter.actorId !== null || filter.operation !== null;
    const start = await this.log.firstPositionAfter(position, filter);
    if (start === null || start > to) return;
    const isLong = readsEntries && to - start >= FEW_POSITIONS;
    const listed = isLong ? await this.log.findPositions(filter, MAX_LISTED) : null;
    yield null;
    if (listed !== null) {
      const rest = listed.filter((one) => one > position && one <= to);
      for (let read = 0; read < rest.length; read += CHANGES_PER_READ) {
        yield* await this.log.changesAt(rest.slice(read, read + CHANGES_PER_READ), filter);
        yield null;
      }
      return;
    }
    const windowSize = readsEntries && filter.objectId === null ? POSITIONS_PER_READ : to;
    for (let after = position; ;) {
      const first = await this.log.firstPositionAfter(after, filter);
      if (first === null || first > to) return;
      const windowEnd = first - 1n + windowSize;
      const end = windowEnd < to ? windowEnd : to;
      const batch = await this.log.changesWithin({ after, to: end }, filter, CHANGES_PER_READ);
      yield* batch;
      yield null;
      const last = batch.at(-1);
      after = last === undefined || batch.length < CHANGES_PER_READ ? end : last.change.position;
    }
  }

  /**
   * Returns a position up to which all changes are visible. Waits up to {@link LONGEST_WAIT_MS} for transactions that
   * may have taken lower positions. If all of them end in time, returns the last position. Otherwise returns the last
   * position that a seal covers.
   */
  private async finalPosition(): Promise<bigint> {
    const last = await this.seals.lastPosition();
    const isFinal = await untilWritersEnd(this.database, 'audit_change', LONGEST_WAIT_MS);
    return isFinal ? last : (await this.chain.readEnd()).to;
  }
}
