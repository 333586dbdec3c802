import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { Signals } from '../../platform/jobs';
import { type Meter, MetersService, type MeterTerms } from '../meters';
import { ArchivedUsage } from './archive/archived-usage';
import { BACKFILL_WORK } from './meter-backfills';
import { BackfillMeters } from './store/backfill-meters';
import { MeterBackfillsRepository } from './store/meter-backfills.repository';
import { lockMeterCreation } from './store/meter-locks';
import { UsageTotalsWriter } from './store/usage-totals-writer';

@Injectable()
export class CreateMeterService {
  constructor(
    private readonly database: Database,
    private readonly meters: MetersService,
    private readonly totals: UsageTotalsWriter,
    private readonly backfillMeters: BackfillMeters,
    private readonly backfills: MeterBackfillsRepository,
    private readonly signals: Signals,
    private readonly archivedUsage: ArchivedUsage,
  ) {}

  /**
   * Creates a meter. Events stored after the commit are counted when they are stored. Earlier events are counted in
   * this commit if they are few and no other transaction is storing events with the same name. Otherwise they are
   * counted in the background (backfill). Blocks archiving of usage until the commit. Each month is thus either
   * archived before the meter is created, or counted by the meter.
   * @throws {ProblemError} `meter_terms_contradict`, `too_many_meters`, `meter_key_taken`, `usage_archived`
   */
  async create(terms: MeterTerms): Promise<Meter> {
    this.meters.assertTerms(terms);
    return this.database.transaction(async () => {
      await this.archivedUsage.blockArchive();
      await lockMeterCreation(this.database, terms.eventName);
      if (terms.isRecurring) await this.archivedUsage.requireNoneArchived(terms.eventName);
      const streams = await this.backfillMeters.tryLockAll(terms.eventName);
      const meter = await this.meters.create(
        terms,
        streams === null ? 'backfilling' : 'active',
        await this.archivedUsage.archiveEndOfEventName(terms.eventName),
      );
      if (streams === null) {
        await this.backfills.insert(meter.id);
        this.database.afterCommit(() => this.signals.announce(BACKFILL_WORK));
      } else await this.totals.recount(meter.id, { streams, from: null, to: null });
      return meter;
    });
  }
}
