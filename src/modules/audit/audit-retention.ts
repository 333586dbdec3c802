import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { AuditTrail } from '../../platform/audit';
import { Clock } from '../../platform/clock';
import { Configuration } from '../../platform/config';
import { Database, isLockTimeout, isTableMissing, oldestKept } from '../../platform/database';
import { Jobs } from '../../platform/jobs';
import { AuditChain } from './audit-chain';
import { AuditDropsRepository } from './audit-drops.repository';
import type { AuditDrop } from './domain/audit-drop';
import type { SealFault } from './seal';
import { SealsRepository } from './seals.repository';

const EVERY_MS = 3_600_000;

/**
 * Drops months of the audit log that are older than the retention, oldest first. Keeps their seals (checksums over
 * groups of changes). A month is dropped only if all its changes are sealed and match their seals. A month that does
 * not match is kept as evidence, because its rows may have been changed after they were sealed.
 */
@Injectable()
export class AuditRetention implements OnModuleInit {
  private readonly logger = new Logger('audit-retention');

  constructor(
    private readonly database: Database,
    private readonly drops: AuditDropsRepository,
    private readonly seals: SealsRepository,
    private readonly chain: AuditChain,
    private readonly trail: AuditTrail,
    private readonly configuration: Configuration,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    if (this.configuration.auditRetentionMonths === null) return;
    this.jobs.register({
      name: 'audit-retention',
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
    });
  }

  /** Drops the oldest month if its retention has ended. Returns true if a month was dropped. */
  async runDue(): Promise<boolean> {
    const { auditRetentionMonths } = this.configuration;
    if (auditRetentionMonths === null) return false;
    const [month] = await this.drops.findDroppableMonths();
    if (month === undefined || month >= oldestKept(this.clock.now(), auditRetentionMonths)) {
      return false;
    }
    try {
      return (await this.matchesSeals(month)) && (await this.drop(month));
    } catch (error) {
      if (!isLockTimeout(error) && !isTableMissing(error)) throw error;
      return false;
    }
  }

  /** Returns false if a seal (checksum) of the month does not match its changes, or if a change has no seal yet. */
  private async matchesSeals(month: string): Promise<boolean> {
    const { last } = await this.drops.readMonthRange(month);
    const dropped = (await this.drops.listAll()).at(-1);
    const start = await this.chain.readEndAt(dropped?.throughSeal ?? 0n);
    const [added] = await this.seals.findWithUnexpectedChanges(start, 1);
    if (added !== undefined) return this.keep(month, added.number, 'changes_added');
    if (last === null || last <= start.to) return true;
    for await (const { number, seal, fault } of this.chain.checkSealsAfter(start)) {
      if (fault !== null) return this.keep(month, number, fault);
      if (seal !== null && seal.to >= last) return true;
    }
    return false;
  }

  /** Logs why a month is kept. Logs nothing if another process has just dropped the month, which explains the fault. */
  private async keep(month: string, seal: bigint, fault: SealFault): Promise<false> {
    if (!(await this.drops.findDroppableMonths()).includes(month)) return false;
    const text = 'a month of the audit log is kept, because it does not match its seals';
    this.logger.error({ month, seal: seal.toString(), fault }, text);
    return false;
  }

  /** Drops a month and records the drop. If the month is empty and was dropped before, does not record it again. */
  private drop(month: string): Promise<boolean> {
    return this.database.transaction(async () => {
      await this.drops.limitLockWait();
      await this.seals.lockChain();
      const [oldest] = await this.drops.findDroppableMonths();
      if (oldest !== month) return false;
      const { last, entryCount, changeCount } = await this.drops.readMonthRange(month);
      const end = await this.chain.readEnd();
      if (last !== null && last > end.to) return false;
      if (entryCount + changeCount === 0n && (await this.drops.hasDropped(month))) {
        await this.drops.drop(month);
        return true;
      }
      const firstLeft = await this.drops.firstPositionOutside(month);
      const through = firstLeft === null ? end : await this.seals.findLastBefore(firstLeft);
      const drop: AuditDrop = {
        month,
        entryCount,
        changeCount,
        throughSeal: through.number,
        throughPosition: through.to,
        keptDigest: await this.drops.storeHashes(month, through.to),
        droppedAt: this.clock.now(),
      };
      await this.drops.insert(drop);
      await this.trail.record({
        action: 'audit_log.dropped',
        objectId: month,
        fields: {
          entry_count: Number(entryCount),
          change_count: Number(changeCount),
          through_seal: drop.throughSeal.toString(),
          kept_digest: drop.keptDigest,
        },
      });
      await this.drops.drop(month);
      return true;
    });
  }
}
