import { Injectable } from '@nestjs/common';
import { raise } from '../../platform/errors';
import type { ListSummary, Page, PageRequest } from '../../platform/database';
import type { Payment } from './domain/payment';
import type { PaymentFilter } from './domain/payment-filter';
import { paymentNotFound } from './payments.errors';
import { PaymentsRepository } from './payments.repository';

@Injectable()
export class PaymentsService {
  constructor(private readonly payments: PaymentsRepository) {}

  /** @throws {ProblemError} `payment_not_found` */
  async get(id: string): Promise<Payment> {
    return (await this.payments.find(id)) ?? raise(paymentNotFound(id));
  }

  list(filter: PaymentFilter, request: PageRequest): Promise<Page<Payment>> {
    return this.payments.page(filter, request);
  }

  summarize(filter: PaymentFilter): Promise<readonly ListSummary[]> {
    return this.payments.summarize(filter);
  }

  /** Returns the ids of the given invoices that have an automatic charge in progress. */
  async findBeingCharged(invoiceIds: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(await this.payments.findBeingCharged(invoiceIds));
  }
}
