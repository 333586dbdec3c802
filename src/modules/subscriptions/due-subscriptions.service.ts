import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { CustomersService } from '../customers';
import { decideAbandon, decideDue } from './domain/decide';
import type { Subscription } from './domain/subscription';
import { NEW_IDS, SubscriptionOutcomesService } from './subscription-outcomes.service';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Does what falls due for a subscription: its start, the end of a period or of a trial, a change that waited. */
@Injectable()
export class DueSubscriptionsService {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly customers: CustomersService,
    private readonly outcomes: SubscriptionOutcomesService,
  ) {}

  /**
   * Does the next piece of work that is due, in one commit. A subscription whose customer was deleted ends there. Nothing where somebody did it already: whoever locks the
   * subscription first does it, and the next finds it done.
   * @returns whether something was done
   */
  runNext(id: string, now: Date): Promise<boolean> {
    return this.database.transaction(async () => {
      const snapshot = await this.subscriptions.lockSnapshot(id);
      const before = snapshot?.subscription ?? null;
      if (snapshot === null || before === null || !isDue(before, now)) return false;
      const outcome = (await this.customers.exists(before.customerId))
        ? decideDue(snapshot, NEW_IDS)
        : decideAbandon(snapshot);
      await this.outcomes.apply(before, outcome, now);
      return true;
    });
  }

  /** Does all that is due already, in the caller's transaction; returns the subscription as it is then. */
  async catchUp(subscription: Subscription, now: Date): Promise<Subscription> {
    this.database.requireTransaction();
    let latest = subscription;
    while (isDue(latest, now)) {
      await this.runNext(latest.id, now);
      latest = (await this.subscriptions.find(latest.id)) ?? latest;
    }
    return latest;
  }
}

function isDue({ nextBillingAt }: Subscription, now: Date): boolean {
  return nextBillingAt !== null && nextBillingAt <= now;
}
