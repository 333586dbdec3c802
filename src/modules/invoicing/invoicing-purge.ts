import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockParticipants } from '../test-clocks';
import { InvoicesRepository } from './invoices.repository';

/** Purges the invoices and credits of customers on a deleted test clock. */
@Injectable()
export class InvoicingPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly invoices: InvoicesRepository,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'invoicing',
      purge: (customerIds) => this.invoices.removeOf(customerIds),
    });
  }
}
