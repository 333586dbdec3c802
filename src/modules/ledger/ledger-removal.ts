import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockRemovals } from '../test-clocks';
import { LedgerRepository } from './ledger.repository';

/** The books of customers on a test clock go with it. */
@Injectable()
export class LedgerRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly ledger: LedgerRepository,
  ) {}

  onModuleInit(): void {
    this.removals.register({
      name: 'ledger',
      remove: (customerIds) => this.ledger.removeOf(customerIds),
    });
  }
}
