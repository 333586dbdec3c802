import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { ArchiveUsage, RemoveArchivedUsage } from '../../metering';
import { SoldUsageService } from '../../subscriptions';

/**
 * Archives usage events whose retention has ended, in steps. Each is one commit.
 *
 * 1. Removes events whose files were written a while ago.
 * 2. Writes the next file, or looks for the next streams with events to archive.
 * 3. Reads which periods of their customers are not billed yet, and closes a month of the other streams.
 */
@Injectable()
export class ArchiveUsageWorkflow {
  constructor(
    private readonly database: Database,
    private readonly archive: ArchiveUsage,
    private readonly removing: RemoveArchivedUsage,
    private readonly soldUsage: SoldUsageService,
  ) {}

  /** Does one step. Returns true if there may be more to do. */
  async step(now: Date): Promise<boolean> {
    if (await this.removing.removeSome(now)) return true;
    return this.database.transaction(async () => {
      const step = await this.archive.next(now);
      if (typeof step === 'string') return step === 'done';
      const customerIds = step.streams.map(({ customerId }) => customerId);
      await this.archive.close(step, await this.soldUsage.openSince(customerIds));
      return true;
    });
  }
}
