import { Injectable } from '@nestjs/common';
import { PaymentOutcomesService } from '../payment-outcomes.service';
import { RefundCorrections } from '../refund-corrections';
import { discrepancyNotApplicable } from './discrepancies.errors';
import { DiscrepanciesService } from './discrepancies.service';
import { type Discrepancy, isApplicable } from './domain/discrepancy';

/** Books what a provider reported after all. */
@Injectable()
export class ApplyDiscrepancyService {
  constructor(
    private readonly discrepancies: DiscrepanciesService,
    private readonly outcomes: PaymentOutcomesService,
    private readonly refunds: RefundCorrections,
  ) {}

  /**
   * Turns the failed payment or refund into a succeeded one, with all that follows from it, in one commit; a no-op when
   * that was done before.
   * @throws {ProblemError} `provider_discrepancy_not_found`, `provider_discrepancy_not_applicable`, `invalid_transition`,
   *   `refund_amount_exceeds_refundable` where the amount of the refund was given back otherwise meanwhile
   */
  apply(id: string): Promise<Discrepancy> {
    return this.discrepancies.resolve(id, 'applied', (discrepancy) => this.book(discrepancy));
  }

  private async book(discrepancy: Discrepancy): Promise<void> {
    const { paymentId, refundId, providerReference } = discrepancy;
    if (!isApplicable(discrepancy) || providerReference === null) {
      throw discrepancyNotApplicable(discrepancy);
    }
    if (refundId === null) await this.outcomes.correct(paymentId, providerReference);
    else await this.refunds.correct(discrepancy, refundId);
  }
}
