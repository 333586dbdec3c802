import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database';
import { type DueDraft, EarnedTimes, FinalizeInvoicesService } from '../invoicing';
import { earnedUntil } from './domain/periods';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Finalises drafts while their subscriptions are locked, so that nobody else uses the same coupon or late usage meanwhile. */
@Injectable()
export class DueDraftsService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly finalizing: FinalizeInvoicesService,
    private readonly earned: EarnedTimes,
  ) {}

  onModuleInit(): void {
    this.earned.register(async (subscriptionIds) => {
      const periods = await this.subscriptions.newestPeriods(subscriptionIds);
      return new Map(periods.map((period) => [period.subscriptionId, earnedUntil(period)]));
    });
  }

  /** Finalises those of these drafts that still wait, in one commit; of each subscription there is one. */
  finalizeDue(drafts: readonly DueDraft[], now: Date): Promise<void> {
    return this.database.transaction(async () => {
      await this.subscriptions.lockAll(drafts.map(({ subscriptionId }) => subscriptionId));
      const ids = drafts.map(({ id }) => id);
      await this.finalizing.finalizeWaiting(ids, now);
    });
  }
}
