import { Injectable } from '@nestjs/common';
import { nextVersion } from '../../core/next-version';
import { currentActor } from '../../platform/access';
import { Database } from '../../platform/database';
import { Outbox } from '../../platform/outbox';
import { RedemptionsService } from '../coupons';
import { CreditGrantsRepository } from './credit-grants.repository';
import type { Invoice } from './domain/invoice';
import { lastLookAt } from './domain/invoice-collection';
import { InvoicePostings } from './invoice-postings';
import { invoiceVoided } from './invoicing.events';
import { InvoicesRepository } from './invoices.repository';

/** Voids invoices. */
@Injectable()
export class VoidInvoiceService {
  constructor(
    private readonly database: Database,
    private readonly invoices: InvoicesRepository,
    private readonly grants: CreditGrantsRepository,
    private readonly redemptions: RedemptionsService,
    private readonly postings: InvoicePostings,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Voids a locked invoice in the caller's transaction. Returns the credit and the coupons that it used, charges again what it
   * credited, and takes back what its credits returned to coupons. None of its lines may be credited, and payments must be taken off it.
   */
  async void(before: Invoice, now: Date): Promise<Invoice> {
    this.database.requireTransaction();
    for (const { creditId, amountMinor } of before.credits) {
      await this.grants.use(creditId, -amountMinor);
    }
    await this.invoices.addCredited(
      before.lines.flatMap(({ creditsLineId: lineId, amount }) =>
        lineId === null ? [] : [{ lineId, amount }],
      ),
    );
    await this.redemptions.takeBack(before.coupons, now);
    await this.postings.postVoided(before, now);
    const after = nextVersion(before, now, {
      status: 'void',
      amountPaid: 0n,
      voidedAt: now,
      voidedBy: currentActor(),
      collectAt: lastLookAt(before, now),
    });
    await this.invoices.update(after);
    await this.outbox.record(invoiceVoided, { after, before, occurredAt: now });
    return after;
  }
}
