import { Injectable } from '@nestjs/common';
import { Database, unlessUnreadable } from '../../platform/database';
import { type ChainEnd, faultOf, type Seal, type SealFault } from './seal';
import { SealsRepository } from './seals.repository';

const SEALS_PER_READ = 100;

/** A seal, and what is wrong with it. */
export interface CheckedSeal {
  readonly seal: Seal;
  readonly fault: SealFault | null;
}

/** Compares changes with their seals. */
@Injectable()
export class AuditChain {
  constructor(
    private readonly database: Database,
    private readonly seals: SealsRepository,
  ) {}

  /** Yields the seals after the given one, in their order, also those whose changes the database cannot read. */
  async *checkedAfter(start: ChainEnd): AsyncGenerator<CheckedSeal> {
    let end = start;
    for (;;) {
      const batch = await this.seals.after(end.number, SEALS_PER_READ);
      for (const seal of batch) {
        const reads = () => this.seals.content(seal.from, seal.to);
        yield { seal, fault: faultOf(seal, end, await unlessUnreadable(this.database, reads)) };
        end = seal;
      }
      if (batch.length < SEALS_PER_READ) return;
    }
  }
}
