import { Injectable } from '@nestjs/common';
import { priceTermsContradict } from './catalog.errors';
import type { PriceTerms } from './domain/price';
import type { PriceFault } from './domain/price-faults';

/** The places where prices do not fit the meters they name; throws where one does not exist. `pointer` is that of the list. */
export type PriceCheck = (
  prices: readonly PriceTerms[],
  pointer: string,
) => Promise<readonly PriceFault[]>;

/**
 * Which meters there are is known one layer above, where usage is counted: that module registers its check here while it
 * starts. The foreign key holds their existence either way.
 */
@Injectable()
export class PriceRules {
  private readonly checks: PriceCheck[] = [];

  register(check: PriceCheck): void {
    this.checks.push(check);
  }

  /** @throws {ProblemError} `reference_not_found`, `price_terms_contradict` */
  async assertFit(prices: readonly PriceTerms[], pointer: string): Promise<void> {
    const faults: PriceFault[] = [];
    for (const check of this.checks) faults.push(...(await check(prices, pointer)));
    if (faults.length > 0) throw priceTermsContradict(faults);
  }
}
