import { Injectable } from '@nestjs/common';
import type { PriceTerms } from './domain/price';

/** Throws a problem where prices name meters that do not exist; `pointer` is that of the list. */
export type PriceCheck = (
  prices: readonly Pick<PriceTerms, 'meterId'>[],
  pointer: string,
) => Promise<void>;

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

  async assertFit(prices: readonly PriceTerms[], pointer: string): Promise<void> {
    for (const check of this.checks) await check(prices, pointer);
  }
}
