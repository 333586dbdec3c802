import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockParticipants } from '../test-clocks';
import { LedgerRepository } from './ledger.repository';

/** Purges the ledger transactions of customers on a deleted test clock. */
@Injectable()
export class LedgerPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly ledger: LedgerRepository,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'ledger',
      purge: (customerIds) => this.ledger.removeOf(customerIds),
    });
  }
}
