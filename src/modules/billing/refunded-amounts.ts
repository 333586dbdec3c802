import { Injectable } from '@nestjs/common';
import { type CreditOrder, InvoicePaymentsService, type RefundedOf } from '../invoicing';
import { ReturnPaymentsService } from '../payments';

type Credited = Pick<CreditOrder, 'itemId' | 'unusedFrom'>;

/** Reads what refunds gave back of the invoices that credits take from: a credit gives back only the rest. */
@Injectable()
export class RefundedAmounts {
  constructor(
    private readonly invoices: InvoicePaymentsService,
    private readonly payments: ReturnPaymentsService,
  ) {}

  /**
   * Locks the payments of the invoices that credits take from, until the caller's transaction ends: a refund at the same
   * instant waits, and then finds the credit. Called after the subscription was locked, before entitlement balances and usage.
   */
  async lock(credits: readonly Credited[]): Promise<RefundedOf> {
    return this.payments.lockRefunded(await this.invoices.creditedBy(credits));
  }

  /** Returns the same without a lock, for previews. */
  async read(credits: readonly Credited[]): Promise<RefundedOf> {
    return this.payments.findRefunded(await this.invoices.creditedBy(credits));
  }
}
