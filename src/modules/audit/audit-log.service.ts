import { Injectable } from '@nestjs/common';
import { raise } from '../../platform/errors';
import type { Page, PageRequest } from '../../platform/database';
import { AuditLogRepository } from './audit-log.repository';
import { auditEntryNotFound } from './audit.errors';
import type { AuditEntry, AuditFilter, ExportedChange } from './domain/audit-entry';

const CHANGES_PER_READ = 500;

/** Reads the audit log. */
@Injectable()
export class AuditLogService {
  constructor(private readonly log: AuditLogRepository) {}

  list(filter: AuditFilter, request: PageRequest): Promise<Page<AuditEntry>> {
    return this.log.page(filter, request);
  }

  /** @throws {ProblemError} `audit_entry_not_found` */
  async get(id: string): Promise<AuditEntry> {
    return (await this.log.find(id)) ?? raise(auditEntryNotFound(id));
  }

  /** Yields all matching changes, oldest first, at the pace of the reader. */
  async *export(filter: AuditFilter): AsyncGenerator<ExportedChange> {
    let position = 0n;
    for (;;) {
      const batch = await this.log.changesAfter(position, filter, CHANGES_PER_READ);
      yield* batch;
      const last = batch.at(-1);
      if (last === undefined || batch.length < CHANGES_PER_READ) return;
      position = last.change.position;
    }
  }
}
