import { Injectable } from '@nestjs/common';
import { raise } from '../../platform/errors';
import type { ListSummary, Page, PageRequest } from '../../platform/database';
import type { ScheduledChange, Subscription } from './domain/subscription';
import { subscriptionNotFound } from './subscriptions.errors';
import type { SubscriptionFilter } from './subscription-query';
import { SubscriptionsRepository } from './subscriptions.repository';

@Injectable()
export class SubscriptionsService {
  constructor(private readonly subscriptions: SubscriptionsRepository) {}

  /** @throws {ProblemError} `subscription_not_found` */
  async get(id: string): Promise<Subscription> {
    return (await this.subscriptions.find(id)) ?? raise(subscriptionNotFound(id));
  }

  list(filter: SubscriptionFilter, request: PageRequest): Promise<Page<Subscription>> {
    return this.subscriptions.page(filter, request);
  }

  summarize(filter: SubscriptionFilter): Promise<readonly ListSummary[]> {
    return this.subscriptions.summarize(filter);
  }

  findRunning(customerId: string): Promise<readonly Subscription[]> {
    return this.subscriptions.findRunning(customerId);
  }

  /**
   * Returns the scheduled changes of a subscription, newest first.
   * @throws {ProblemError} `subscription_not_found`
   */
  async scheduledChanges(id: string, request: PageRequest): Promise<Page<ScheduledChange>> {
    await this.get(id);
    return this.subscriptions.scheduledChanges(id, request);
  }
}
