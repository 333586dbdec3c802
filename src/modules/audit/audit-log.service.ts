import { Injectable } from '@nestjs/common';
import { raise } from '../../platform/errors';
import { Database, type Page, type PageRequest, untilWritersEnd } from '../../platform/database';
import { AuditChain } from './audit-chain';
import { AuditLogRepository } from './audit-log.repository';
import { auditEntryNotFound } from './audit.errors';
import type { AuditEntry, AuditFilter, ExportedChange } from './domain/audit-entry';
import { SealsRepository } from './seals.repository';

const CHANGES_PER_READ = 500;
/** Maximum positions per read of an export by actor or operation, because few of their changes may match. */
const POSITIONS_PER_READ = 10_000n;

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
   * Yields the matching changes after a position, oldest first, at the pace of the reader. Stops before any position at
   * which an open transaction may still add a change, so that a later export can continue without a gap.
   */
  async *export(filter: AuditFilter, position: bigint): AsyncGenerator<ExportedChange> {
    const to = await this.finalPosition();
    const readsEntries = filter.actorId !== null || filter.operation !== null;
    for (let after = position; after < to;) {
      const windowEnd = after + POSITIONS_PER_READ;
      const end = readsEntries && windowEnd < to ? windowEnd : to;
      const batch = await this.log.changesWithin({ after, to: end }, filter, CHANGES_PER_READ);
      yield* batch;
      const last = batch.at(-1);
      after = last === undefined || batch.length < CHANGES_PER_READ ? end : last.change.position;
    }
  }

  /**
   * Returns a position up to which all changes are visible. Waits up to {@link LONGEST_WAIT_MS} for transactions that
   * may have taken lower positions. If they end in time, returns the last position, otherwise the last position that a
   * seal covers.
   */
  private async finalPosition(): Promise<bigint> {
    const last = await this.seals.lastPosition();
    const isFinal = await untilWritersEnd(this.database, 'audit_change', LONGEST_WAIT_MS);
    return isFinal ? last : (await this.chain.readEnd()).to;
  }
}
