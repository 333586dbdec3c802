import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockParticipants } from '../test-clocks';
import { CustomersRepository } from './customers.repository';

/** Lets test clocks count, lock and delete the customers on a deleted test clock. */
@Injectable()
export class CustomersPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly customers: CustomersRepository,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerCustomers({
      count: (testClockId) => this.customers.countOnTestClock(testClockId),
      lock: (testClockId, limit) => this.customers.lockOnTestClock(testClockId, limit),
      purge: (ids) => this.customers.remove(ids),
    });
  }
}
