import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { postLossRecovered } from '../../../core/ledger';
import { CreditBalanceService, type Invoice } from '../../invoicing';
import { LedgerService } from '../../ledger';
import type { Payment } from '../domain/payment';
import { PaymentsRepository } from '../payments.repository';

/** Payment as far as its loss is concerned. */
type LostPayment = Pick<Payment, 'id' | 'customerId' | 'currency' | 'amountLost'>;

/** Source of credit that became available, and when it did. */
interface Freed {
  readonly sourceId: string;
  readonly occurredAt: Date;
}

/**
 * Takes credit of disputed payments that becomes available after the dispute was lost. A loss takes unused credit of its payment
 * first, whether it is unused at that time or later.
 */
@Injectable()
export class LostCreditService {
  constructor(
    private readonly payments: PaymentsRepository,
    private readonly credit: CreditBalanceService,
    private readonly ledger: LedgerService,
  ) {}

  /**
   * Locks the payments whose credit these invoices used, before that credit is locked, until the caller's transaction ends. Returns
   * those that disputes took money of.
   */
  async lockLost(invoices: readonly Pick<Invoice, 'credits'>[]): Promise<readonly Payment[]> {
    const used = invoices.flatMap(({ credits }) => credits.map(({ creditId }) => creditId));
    const sourceIds = await this.credit.sourcesOf(used);
    const payments = await this.payments.lockAll(sourceIds);
    return payments.filter(({ amountLost }) => amountLost > 0n);
  }

  /** Takes available credit of locked payments of one customer, as far as their losses took none yet, and posts it once. */
  async take(payments: readonly LostPayment[], freed: Freed): Promise<void> {
    let amountMinor = 0n;
    for (const { id, amountLost } of payments) {
      if (amountLost === 0n) continue;
      const { lost } = await this.credit.lockOf(id);
      amountMinor += await this.credit.takeLost(id, amountLost - lost);
    }
    if (amountMinor === 0n) return;
    const [payment] = payments;
    invariant(payment !== undefined, 'Credit was taken of a payment.');
    const { customerId, currency } = payment;
    await this.ledger.post(postLossRecovered({ currency, amountMinor }), { ...freed, customerId });
  }
}
