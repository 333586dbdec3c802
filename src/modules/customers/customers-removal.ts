import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockRemovals } from '../test-clocks';
import { CustomersRepository } from './customers.repository';

/** Customers on a test clock go with it. */
@Injectable()
export class CustomersRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly customers: CustomersRepository,
  ) {}

  onModuleInit(): void {
    this.removals.registerCustomers({
      lock: (testClockId) => this.customers.lockOn(testClockId),
      remove: (ids) => this.customers.remove(ids),
    });
  }
}
