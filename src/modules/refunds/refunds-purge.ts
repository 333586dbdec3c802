import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockParticipants } from '../test-clocks';
import { RefundsRepository } from './refunds.repository';

/** Purges the refunds to customers on a deleted test clock. */
@Injectable()
export class RefundsPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly refunds: RefundsRepository,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'refunds',
      purge: (customerIds) => this.refunds.removeOf(customerIds),
    });
  }
}
