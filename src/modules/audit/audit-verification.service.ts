import { Injectable } from '@nestjs/common';
import { Database, Reports, unlessUnreadable } from '../../platform/database';
import { AuditChain, type CheckedSeal } from './audit-chain';
import { AuditDropsRepository } from './audit-drops.repository';
import type { AuditDrop } from './domain/audit-drop';
import type { Seal, SealFault } from './seal';
import { SealsRepository } from './seals.repository';

const MOST_FAULTS = 100;

export interface FaultySeal extends CheckedSeal {
  readonly fault: SealFault;
}

/** Checks beside those of the seals. */
export type AuditCheck = 'unsealed_changes' | 'empty_entries' | 'dropped_months_match';

export interface AuditVerification {
  readonly sealCount: number;
  readonly sealedChanges: number;
  /** 0 if the database cannot count them. */
  readonly unsealedChanges: number;
  /** End of the chain; null if nothing is sealed. */
  readonly lastSeal: Seal | null;
  readonly faults: readonly FaultySeal[];
  /** Ids of entries that have no change; the engine writes none. */
  readonly emptyEntries: readonly string[];
  /** Months that were dropped after their retention, oldest first. */
  readonly drops: readonly AuditDrop[];
  /** False if the last drop differs from its entry, or from the hashes that it kept. */
  readonly dropsMatch: boolean;
  /** Checks that the database could not make, because it cannot read a row. */
  readonly unreadable: readonly AuditCheck[];
}

/** Compares the audit log with its seals. */
@Injectable()
export class AuditVerificationService {
  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
    private readonly seals: SealsRepository,
    private readonly chain: AuditChain,
    private readonly drops: AuditDropsRepository,
  ) {}

  /**
   * Reads the whole audit log on one snapshot. Of seals whose changes were dropped, only the order can be checked. Rows that the
   * database cannot read are a fault of their seal, and the others are still compared.
   * @throws {ProblemError} `too_many_reports`
   */
  verify(): Promise<AuditVerification> {
    return this.reports.run('verification', async () => {
      const drops = await this.drops.all();
      const start = await this.seals.withNumber(drops.at(-1)?.throughSeal ?? 0n);
      const breaks = await this.seals.breaksThrough(start.number, MOST_FAULTS);
      const faults = breaks.map((seal): FaultySeal => ({ seal, fault: 'chain_broken' }));
      const dropped = await this.seals.countsThrough(start.number);
      let { seals: sealCount, changes: sealedChanges } = dropped;
      for await (const { seal, fault } of this.chain.checkedAfter(start)) {
        if (fault !== null && faults.length < MOST_FAULTS) faults.push({ seal, fault });
        sealCount += 1;
        sealedChanges += seal.changeCount;
      }
      const lastSeal = await this.seals.last();
      const unreadable: AuditCheck[] = [];
      const check = async <Result>(
        name: AuditCheck,
        otherwise: Result,
        reads: () => Promise<Result>,
      ) => {
        const result = await unlessUnreadable(this.database, reads);
        if (result === null) unreadable.push(name);
        return result ?? otherwise;
      };
      const lastPosition = lastSeal?.to ?? 0n;
      return {
        sealCount,
        sealedChanges,
        unsealedChanges: await check('unsealed_changes', 0, () =>
          this.seals.countAfter(lastPosition),
        ),
        lastSeal,
        faults,
        emptyEntries: await check('empty_entries', [], () =>
          this.seals.entriesWithoutChange(MOST_FAULTS),
        ),
        drops,
        dropsMatch: await check('dropped_months_match', false, () =>
          this.dropMatches(drops.at(-1)),
        ),
        unreadable,
      };
    });
  }

  private async dropMatches(drop: AuditDrop | undefined): Promise<boolean> {
    if (drop === undefined) return (await this.drops.keptCount()) === 0;
    const { throughPosition, throughSeal, keptDigest } = drop;
    const through = await this.seals.withNumber(throughSeal);
    if (through.to !== throughPosition || !(await this.drops.isRecorded(drop))) return false;
    return (await this.drops.keptDigest(throughPosition)) === keptDigest;
  }
}
