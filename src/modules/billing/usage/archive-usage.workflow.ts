import { Injectable } from '@nestjs/common';
import { Database, isDataDamaged, isDataException } from '../../../platform/database';
import { SubscriptionBalancesService } from '../../entitlements';
import { InvoicesService } from '../../invoicing';
import { ArchiveUsage, RemoveArchivedUsage } from '../../metering';
import { UnbillableUsageService } from '../../subscriptions';

/**
 * Archives usage events whose retention has ended. A stream is the events of one name of one customer. Each call of
 * `step` does the first of these steps that is due, in one commit.
 *
 * 1. Takes archive files that were written at least 15 minutes ago and whose events are still in the database. Reads
 *    the files again to verify them or, once all are verified, deletes their events from the database.
 * 2. Writes the next archive file.
 * 3. Selects and locks the next streams that have a month to archive. Closes this month, so that its events can no
 *    longer be stored or voided. Leaves out streams whose month is still needed for a period that is not billed yet.
 *
 * If the data of one stream cannot be written to a file, the other streams are archived without it.
 */
@Injectable()
export class ArchiveUsageWorkflow {
  constructor(
    private readonly database: Database,
    private readonly archive: ArchiveUsage,
    private readonly removeArchivedUsage: RemoveArchivedUsage,
    private readonly unbillableUsage: UnbillableUsageService,
    private readonly balances: SubscriptionBalancesService,
    private readonly invoices: InvoicesService,
  ) {}

  /** Does one step of the archiving. Returns true if there may be more to do. */
  async step(now: Date): Promise<boolean> {
    const windowEdges = async (customerIds: readonly string[]) => [
      ...(await this.unbillableUsage.windowStarts(customerIds, now)),
      ...(await this.balances.windowEdges(customerIds)),
    ];
    if (await this.removeArchivedUsage.removeNext(now, windowEdges)) return true;
    try {
      return await this.archiveNext(now);
    } catch (error) {
      const isOfStream = isDataException(error) || isDataDamaged(error);
      if (isOfStream && (await this.archive.skipFailing(error))) return true;
      throw error;
    }
  }

  private archiveNext(now: Date): Promise<boolean> {
    return this.database.transaction(async () => {
      const step = await this.archive.archiveNext(now);
      if (typeof step === 'string') return step === 'done';
      await this.archive.close(step, (customerIds) => this.openSince(customerIds));
      return true;
    });
  }

  /**
   * Returns, by customer id, the start of the earliest period whose usage is not billed yet. Reads the current periods
   * before the draft invoices, because a concurrent renewal moves usage from the current period to a draft. In the
   * other order, this usage could be missed.
   */
  private async openSince(customerIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const running = await this.unbillableUsage.openSince(customerIds);
    const waiting = await this.invoices.usageWaitingSince(customerIds);
    const isEarlier = ([id, since]: readonly [string, Date]) => since <= (running.get(id) ?? since);
    return new Map([...running, ...[...waiting].filter(isEarlier)]);
  }
}
