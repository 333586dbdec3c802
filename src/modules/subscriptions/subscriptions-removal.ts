import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockRemovals } from '../test-clocks';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Subscriptions on a test clock go with it. */
@Injectable()
export class SubscriptionsRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly subscriptions: SubscriptionsRepository,
  ) {}

  onModuleInit(): void {
    this.removals.register({
      name: 'subscriptions',
      remove: (customerIds) => this.subscriptions.removeOf(customerIds),
    });
  }
}
