import { Injectable } from '@nestjs/common';
import type { Invoice } from './domain/invoice';

/** The payments of an invoice, to the module that takes amounts back. */
export interface PaymentReturn {
  /** Takes the money that paid parts of an invoice off it, in the caller's transaction: it becomes credit of the customer. */
  readonly giveBack: (invoiceId: string, now: Date) => Promise<void>;
  /**
   * Returns the money that refunds gave back, or have reserved, of what paid an invoice, in minor units. Locks the payments,
   * so that no refund begins before the caller's transaction ends.
   */
  readonly lockRefunded: (invoiceId: string) => Promise<bigint>;
}

/** Payments belong to a module above, which registers here while it starts. */
@Injectable()
export class PaymentReturns {
  private readonly returns: PaymentReturn[] = [];

  register(payments: PaymentReturn): void {
    this.returns.push(payments);
  }

  async giveBack({ id, amountPaid }: Invoice, now: Date): Promise<void> {
    if (amountPaid === 0n) return;
    for (const { giveBack } of this.returns) await giveBack(id, now);
  }

  async lockRefunded({ id, amountPaid }: Invoice): Promise<bigint> {
    let refundedMinor = 0n;
    if (amountPaid === 0n) return refundedMinor;
    for (const { lockRefunded } of this.returns) refundedMinor += await lockRefunded(id);
    return refundedMinor;
  }
}
