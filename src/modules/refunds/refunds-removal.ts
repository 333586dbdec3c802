import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PaymentRefundsService } from '../payments';
import { TestClockRemovals } from '../test-clocks';
import { RefundsRepository } from './refunds.repository';

/** Refunds to customers on a test clock go with it. */
@Injectable()
export class RefundsRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly payments: PaymentRefundsService,
    private readonly refunds: RefundsRepository,
  ) {}

  onModuleInit(): void {
    this.removals.register({
      name: 'refunds',
      remove: async (customerIds) =>
        this.refunds.removeOf(await this.payments.paymentIdsOf(customerIds)),
    });
  }
}
