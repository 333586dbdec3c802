import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockRemovals } from '../test-clocks';
import { PaymentMethodsRepository } from './methods/payment-methods.repository';
import { PaymentsRepository } from './payments.repository';

/** Payments and payment methods of customers on a test clock go with it. */
@Injectable()
export class PaymentsRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly payments: PaymentsRepository,
    private readonly methods: PaymentMethodsRepository,
  ) {}

  onModuleInit(): void {
    this.removals.register({
      name: 'payments',
      remove: async (customerIds) => [
        ...(await this.payments.removeOf(customerIds)),
        ...(await this.methods.removeOf(customerIds)),
      ],
    });
  }
}
