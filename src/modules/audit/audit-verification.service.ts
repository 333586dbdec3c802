import { Injectable } from '@nestjs/common';
import { Database, Reports, nullIfUnreadable } from '../../platform/database';
import { AuditChain, type CheckedSeal } from './audit-chain';
import { AuditDropsRepository } from './audit-drops.repository';
import type { AuditDrop } from './domain/audit-drop';
import { CHAIN_START, type Seal, type SealFault } from './seal';
import { SealsRepository } from './seals.repository';

const MAX_FAULTS = 100;

const MORE_TIME = { statementMs: 300_000 };

export interface FaultySeal extends CheckedSeal {
  readonly fault: SealFault;
}

type Check = <Result>(
  name: AuditCheck,
  otherwise: Result,
  reads: () => Promise<Result>,
) => Promise<Result>;

interface DroppedSeals {
  readonly seals: number;
  readonly changes: number;
  readonly last: Seal | null;
  /**
   * Seals (checksums) of dropped changes that do not continue the seal before them (wrong number or first position).
   */
  readonly breaks: readonly Seal[];
  /** Seals (checksums) of dropped changes for which rows are still stored. */
  readonly added: readonly Seal[];
}

const NOTHING_DROPPED: DroppedSeals = { seals: 0, changes: 0, last: null, breaks: [], added: [] };

export type AuditCheck =
  | 'unsealed_changes'
  | 'empty_entries'
  | 'dropped_seals'
  | 'dropped_months'
  | 'dropped_months_match';

export interface AuditVerification {
  readonly sealCount: number;
  readonly sealedChanges: number;
  /** Number of changes after the last seal (checksum); 0 if the database cannot count them. */
  readonly unsealedChanges: number;
  /** Last readable seal (checksum over changes); null if there is no readable seal. */
  readonly lastSeal: Seal | null;
  readonly faults: readonly FaultySeal[];
  /** Ids of entries without a change. The engine writes no such entry. */
  readonly emptyEntries: readonly string[];
  /** Months that were dropped after their retention, in the order of their drops. */
  readonly drops: readonly AuditDrop[];
  /**
   * True if the records of dropped months match. False in each of these cases:
   * - The records of drops are unreadable, or do not match their entries in the audit log.
   * - The last record does not match the seal that it names, or does not match the stored hashes of dropped changes.
   * - Nothing was dropped, but hashes of dropped changes are stored.
   */
  readonly dropsMatch: boolean;
  /** Checks that could not be made, because the database cannot read a row. */
  readonly unreadable: readonly AuditCheck[];
}

/** Compares the audit log with its seals (checksums over groups of changes). */
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
   * Verifies the whole audit log on one snapshot. If the changes of a seal were dropped, checks only that no rows are
   * left for the seal, and that the seal continues the seal before it. An unreadable row is a fault of its seal. All
   * other rows are still compared.
   * @throws {ProblemError} `too_many_reports`
   */
  verify(): Promise<AuditVerification> {
    return this.reports.run('verification', async () => {
      await this.database.setTransactionTimeouts(MORE_TIME);
      await this.drops.keepMonths();
      const unreadable: AuditCheck[] = [];
      const check: Check = async (name, otherwise, reads) => {
        const result = await nullIfUnreadable(this.database, reads);
        if (result === null) unreadable.push(name);
        return result ?? otherwise;
      };
      const drops = await check('dropped_months', [], () => this.drops.listAll());
      const sealed = await this.checkSeals(drops.at(-1)?.throughSeal ?? 0n, check);
      const lastPosition = sealed.lastSeal?.to ?? 0n;
      return {
        ...sealed,
        unsealedChanges: await check('unsealed_changes', 0, () =>
          this.seals.countChangesAfter(lastPosition),
        ),
        emptyEntries: await check('empty_entries', [], () => this.findEmptyEntries()),
        drops,
        dropsMatch: await check('dropped_months_match', false, () => this.dropsMatch(drops.at(-1))),
        unreadable,
      };
    });
  }

  /** @param throughSeal number of the last seal whose changes were all dropped */
  private async checkSeals(throughSeal: bigint, check: Check) {
    const dropped = await check('dropped_seals', NOTHING_DROPPED, async () => {
      const last = await this.seals.findByNumber(throughSeal);
      return {
        ...(await this.seals.countUpTo(throughSeal)),
        last,
        breaks: await this.seals.findBreaks(throughSeal, MAX_FAULTS),
        added: await this.seals.findWithUnexpectedChanges(last ?? CHAIN_START, MAX_FAULTS),
      };
    });
    const faults = [
      ...dropped.breaks.map((seal) => toFaultySeal(seal, 'chain_broken')),
      ...dropped.added.map((seal) => toFaultySeal(seal, 'changes_added')),
    ].slice(0, MAX_FAULTS);
    let { seals: sealCount, changes: sealedChanges, last: lastSeal } = dropped;
    const start = await this.chain.readEndAt(throughSeal);
    for await (const { number, seal, fault } of this.chain.checkSealsAfter(start)) {
      if (fault !== null && faults.length < MAX_FAULTS) faults.push({ number, seal, fault });
      sealCount += 1;
      sealedChanges += seal?.changeCount ?? 0;
      lastSeal = seal ?? lastSeal;
    }
    return { sealCount, sealedChanges, lastSeal, faults };
  }

  /**
   * Finds entries without a change, one month at a time, because one statement over the whole log could take too long.
   */
  private async findEmptyEntries(): Promise<readonly string[]> {
    const months = await this.drops.findDroppableMonths();
    const starts = [
      '-infinity',
      ...months.map((month) => `${month.replace('_', '-')}-01T00:00:00Z`),
    ];
    const found: string[] = [];
    for (const [index, from] of starts.entries()) {
      const to = starts[index + 1] ?? 'infinity';
      const limit = MAX_FAULTS - found.length;
      found.push(...(await this.seals.findEntriesWithoutChange(from, to, limit)));
    }
    return found;
  }

  private async dropsMatch(last: AuditDrop | undefined): Promise<boolean> {
    if (!(await this.drops.areAsRecorded())) return false;
    if (last === undefined) return (await this.drops.countStoredHashes()) === 0;
    const { throughPosition, throughSeal, keptDigest } = last;
    const { to } = (await this.seals.findByNumber(throughSeal)) ?? CHAIN_START;
    if (to !== throughPosition) return false;
    return (await this.drops.digestStoredHashes(throughPosition)) === keptDigest;
  }
}

function toFaultySeal(seal: Seal, fault: SealFault): FaultySeal {
  return { number: seal.number, seal, fault };
}
