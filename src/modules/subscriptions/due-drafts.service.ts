import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { type DueDraft, FinalizeInvoicesService } from '../invoicing';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Finalises drafts while their subscriptions are locked, so that nobody else uses the same coupon or late usage meanwhile. */
@Injectable()
export class DueDraftsService {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly finalizing: FinalizeInvoicesService,
  ) {}

  /** Finalises those of these drafts that still wait, in one commit; of each subscription there is one. */
  finalizeDue(drafts: readonly DueDraft[], now: Date): Promise<void> {
    return this.database.transaction(async () => {
      await this.subscriptions.lockAll(drafts.map(({ subscriptionId }) => subscriptionId));
      const ids = drafts.map(({ id }) => id);
      await this.finalizing.finalizeWaiting(ids, now);
    });
  }
}
