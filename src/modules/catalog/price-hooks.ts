import { Injectable } from '@nestjs/common';
import { priceTermsContradict } from './catalog.errors';
import type { PriceTerms } from './domain/price';
import type { PriceFault } from './domain/price-faults';

/**
 * Returns the places where prices do not fit the meters they name. Throws when a meter does not exist.
 * `pointer` is the JSON pointer of the list.
 */
export type PriceHook = (
  prices: readonly PriceTerms[],
  pointer: string,
) => Promise<readonly PriceFault[]>;

/**
 * Hooks that check the meters of prices. The metering module, one layer above, registers its check when it starts.
 * A foreign key ensures that meters exist even without a hook.
 */
@Injectable()
export class PriceHooks {
  private readonly hooks: PriceHook[] = [];

  register(hook: PriceHook): void {
    this.hooks.push(hook);
  }

  /** @throws {ProblemError} `reference_not_found`, `price_terms_contradict` */
  async assertValid(prices: readonly PriceTerms[], pointer: string): Promise<void> {
    const faults: PriceFault[] = [];
    for (const hook of this.hooks) faults.push(...(await hook(prices, pointer)));
    if (faults.length > 0) throw priceTermsContradict(faults);
  }
}
