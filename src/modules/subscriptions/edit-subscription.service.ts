import { Injectable } from '@nestjs/common';
import type { Metadata } from '../../core/metadata';
import { changedAt } from '../../core/next-version';
import { assertVersion, Database, revise, type VersionCondition } from '../../platform/database';
import { raise } from '../../platform/errors';
import { Outbox } from '../../platform/outbox';
import { CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import type { Subscription } from './domain/subscription';
import { subscriptionNotFound } from './subscriptions.errors';
import { SUBSCRIPTION_EVENTS } from './subscriptions.events';
import { SubscriptionsRepository } from './subscriptions.repository';

@Injectable()
export class EditSubscriptionService {
  constructor(
    private readonly database: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Merges the given metadata into the metadata of the subscription. A no-op writes nothing and records no event.
   * @throws {ProblemError} `subscription_not_found`, `precondition_failed`, `metadata_too_large`,
   *   `test_clock_advancing`, `test_clock_failed`
   */
  updateMetadata(
    id: string,
    sent: Metadata | undefined,
    expected: VersionCondition,
  ): Promise<Subscription> {
    return this.database.transaction(async () => {
      const found = (await this.subscriptions.find(id)) ?? raise(subscriptionNotFound(id));
      const customer = await this.customers.lockForHistory(found.customerId);
      if (customer === null) throw subscriptionNotFound(id);
      const now = await this.testClocks.nowFor(found.testClockId);
      const before = (await this.subscriptions.lock(id)) ?? raise(subscriptionNotFound(id));
      assertVersion(expected, before);
      const after = revise(before, { metadata: sent }, now);
      if (after === before) return before;
      await this.subscriptions.updateMetadata(after);
      const occurredAt = changedAt(now, before);
      await this.outbox.record(SUBSCRIPTION_EVENTS.updated, { after, before, occurredAt });
      return after;
    });
  }
}
