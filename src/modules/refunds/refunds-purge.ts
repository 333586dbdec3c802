import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PaymentRefundsService } from '../payments';
import { TestClockPurges } from '../test-clocks';
import { RefundsRepository } from './refunds.repository';

/** Purges the refunds to customers on a deleted test clock. */
@Injectable()
export class RefundsPurge implements OnModuleInit {
  constructor(
    private readonly purges: TestClockPurges,
    private readonly payments: PaymentRefundsService,
    private readonly refunds: RefundsRepository,
  ) {}

  onModuleInit(): void {
    this.purges.register({
      name: 'refunds',
      purge: async (customerIds) =>
        this.refunds.removeOf(await this.payments.paymentIdsOf(customerIds)),
    });
  }
}
