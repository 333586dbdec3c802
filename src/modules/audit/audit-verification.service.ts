import { Injectable } from '@nestjs/common';
import { Reports } from '../../platform/database';
import { CHAIN_START, type ChainEnd, faultOf, type Seal, type SealFault } from './seal';
import { SealsRepository } from './seals.repository';

const SEALS_PER_READ = 100;
const MOST_FAULTS = 100;

export interface FaultySeal {
  readonly seal: Seal;
  readonly fault: SealFault;
}

export interface AuditVerification {
  readonly sealCount: number;
  readonly sealedChanges: number;
  readonly unsealedChanges: number;
  /** End of the chain; null if nothing is sealed. */
  readonly lastSeal: Seal | null;
  readonly faults: readonly FaultySeal[];
  /** Ids of entries that have no change; the engine writes none. */
  readonly emptyEntries: readonly string[];
}

/** Compares the audit log with its seals. */
@Injectable()
export class AuditVerificationService {
  constructor(
    private readonly reports: Reports,
    private readonly seals: SealsRepository,
  ) {}

  /**
   * Reads the whole audit log on one snapshot.
   * @throws {ProblemError} `too_many_reports`
   */
  verify(): Promise<AuditVerification> {
    return this.reports.run('verification', async () => {
      const faults: FaultySeal[] = [];
      let end: ChainEnd = CHAIN_START;
      let lastSeal: Seal | null = null;
      let sealCount = 0;
      let sealedChanges = 0;
      for (;;) {
        const batch = await this.seals.after(end.number, SEALS_PER_READ);
        for (const seal of batch) {
          const fault = faultOf(seal, end, await this.seals.content(seal.from, seal.to));
          if (fault !== null && faults.length < MOST_FAULTS) faults.push({ seal, fault });
          sealCount += 1;
          sealedChanges += seal.changeCount;
          end = seal;
          lastSeal = seal;
        }
        if (batch.length < SEALS_PER_READ) break;
      }
      return {
        sealCount,
        sealedChanges,
        unsealedChanges: await this.seals.countAfter(end.to),
        lastSeal,
        faults,
        emptyEntries: await this.seals.entriesWithoutChange(MOST_FAULTS),
      };
    });
  }
}
