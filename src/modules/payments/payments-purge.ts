import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockParticipants } from '../test-clocks';
import { DiscrepanciesRepository } from './discrepancies/discrepancies.repository';
import { DisputesRepository } from './disputes/disputes.repository';
import { PaymentMethodSetupsRepository } from './methods/setups/payment-method-setups.repository';
import { PaymentMethodsRepository } from './methods/payment-methods.repository';
import { PaymentsRepository } from './payments.repository';
import { ProviderCustomersRepository } from './providers/provider-customers.repository';

/** Purges the payments and payment methods of customers on a deleted test clock. */
@Injectable()
export class PaymentsPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly discrepancies: DiscrepanciesRepository,
    private readonly disputes: DisputesRepository,
    private readonly payments: PaymentsRepository,
    private readonly setups: PaymentMethodSetupsRepository,
    private readonly methods: PaymentMethodsRepository,
    private readonly providerCustomers: ProviderCustomersRepository,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'payments',
      purge: async (customerIds) => {
        await this.providerCustomers.removeOf(customerIds);
        return [
          ...(await this.discrepancies.removeOf(customerIds)),
          ...(await this.disputes.removeOf(customerIds)),
          ...(await this.payments.removeOf(customerIds)),
          ...(await this.setups.removeOf(customerIds)),
          ...(await this.methods.removeOf(customerIds)),
        ];
      },
    });
  }
}
