import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockParticipants } from '../test-clocks';
import { SubscriptionsRepository } from './subscriptions.repository';

/** Purges the subscriptions of customers on a deleted test clock. */
@Injectable()
export class SubscriptionsPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly subscriptions: SubscriptionsRepository,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'subscriptions',
      purge: (customerIds) => this.subscriptions.removeOf(customerIds),
    });
  }
}
