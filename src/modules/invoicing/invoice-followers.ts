import { Injectable } from '@nestjs/common';
import type { Invoice } from './domain/invoice';

/** What of a module above follows from what becomes of the invoices of subscriptions. */
export interface InvoiceFollower {
  /** Locks what follows an invoice of this subscription, before the invoice is locked. */
  readonly lock: (subscriptionId: string) => Promise<void>;
  /** Called in the transaction that voided an invoice, wrote it off or credited it wholly, after its row is written. */
  readonly follow: (invoice: Invoice, subscriptionId: string, now: Date) => Promise<void>;
}

/** Modules above register here while they start: what they write is in the commit that closes an invoice. */
@Injectable()
export class InvoiceFollowers {
  private readonly followers: InvoiceFollower[] = [];

  register(follower: InvoiceFollower): void {
    this.followers.push(follower);
  }

  async lock({ subscriptionId }: Pick<Invoice, 'subscriptionId'>): Promise<void> {
    if (subscriptionId === null) return;
    for (const { lock } of this.followers) await lock(subscriptionId);
  }

  async tell(invoice: Invoice, now: Date): Promise<void> {
    const { subscriptionId } = invoice;
    if (subscriptionId === null) return;
    for (const { follow } of this.followers) await follow(invoice, subscriptionId, now);
  }
}
