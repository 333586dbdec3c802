import { Injectable } from '@nestjs/common';
import type { Invoice } from './domain/invoice';

/** Takes what paid parts of an invoice off it, in the caller's transaction: it is the customer's credit. */
export type PaymentReturn = (invoiceId: string, now: Date) => Promise<void>;

/** Payments belong to a module above, which registers here while it starts. */
@Injectable()
export class PaymentReturns {
  private readonly returns: PaymentReturn[] = [];

  register(giveBack: PaymentReturn): void {
    this.returns.push(giveBack);
  }

  async giveBack({ id, amountPaid }: Invoice, now: Date): Promise<void> {
    if (amountPaid === 0n) return;
    for (const giveBack of this.returns) await giveBack(id, now);
  }
}
