import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockRemovals } from '../test-clocks';
import { InvoicesRepository } from './invoices.repository';

/** Invoices of customers on a test clock go with it, and what was credited. */
@Injectable()
export class InvoicingRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly invoices: InvoicesRepository,
  ) {}

  onModuleInit(): void {
    this.removals.register({
      name: 'invoicing',
      remove: (customerIds) => this.invoices.removeOf(customerIds),
    });
  }
}
