import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockRemovals } from '../test-clocks';
import { PaymentsRepository } from './payments.repository';

/** Payments of customers on a test clock go with it. */
@Injectable()
export class PaymentsRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly payments: PaymentsRepository,
  ) {}

  onModuleInit(): void {
    this.removals.register({
      name: 'payments',
      remove: (customerIds) => this.payments.removeOf(customerIds),
    });
  }
}
