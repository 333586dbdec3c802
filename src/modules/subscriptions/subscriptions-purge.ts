import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockPurges } from '../test-clocks';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Purges the subscriptions of customers on a deleted test clock. */
@Injectable()
export class SubscriptionsPurge implements OnModuleInit {
  constructor(
    private readonly purges: TestClockPurges,
    private readonly subscriptions: SubscriptionsRepository,
  ) {}

  onModuleInit(): void {
    this.purges.register({
      name: 'subscriptions',
      purge: (customerIds) => this.subscriptions.removeOf(customerIds),
    });
  }
}
