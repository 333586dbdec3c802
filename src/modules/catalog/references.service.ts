import { Injectable } from '@nestjs/common';
import type { TermsFault } from '../../core/terms-fault';
import { FeaturesService } from '../features';
import { MetersService } from '../meters';
import { planEntitlementContradicts, priceTermsContradict } from './catalog.errors';
import type { PlanEntitlement } from './domain/plan';
import { faultsOfPlanEntitlements } from './domain/plan-entitlement';
import type { PriceTerms } from './domain/price';
import { faultsOfMeteredPrice, faultsOfPrices } from './domain/price-faults';

/** Checks prices against their meters, and plan entitlements against the entitlement definitions. */
@Injectable()
export class ReferencesService {
  constructor(
    private readonly meters: MetersService,
    private readonly features: FeaturesService,
  ) {}

  /**
   * Checks the terms of prices. Does not check the meters that the prices refer to.
   * @param pointer JSON pointer to the list of prices in the request
   * @throws {ProblemError} `price_terms_contradict`
   */
  assertTerms(prices: readonly PriceTerms[], pointer: string): void {
    assertNone(faultsOfPrices(prices, pointer));
  }

  /**
   * Checks prices against their meters, and locks the meters against archiving until the caller's transaction ends.
   * @param pointer JSON pointer to the list of prices in the request
   * @throws {ProblemError} `reference_not_found`, `meter_backfilling`, `price_terms_contradict`
   */
  async assertMeters(prices: readonly PriceTerms[], pointer: string): Promise<void> {
    const faults: TermsFault[] = [];
    for (const [index, price] of prices.entries()) {
      if (price.meterId === null) continue;
      const at = `${pointer}/${index}`;
      const meter = await this.meters.requireForReference(price.meterId, `${at}/meter_id`);
      faults.push(...faultsOfMeteredPrice(price, meter, at));
    }
    assertNone(faults);
  }

  /**
   * Checks the entitlements of a plan, and locks their definitions against deletion until the caller's transaction
   * ends.
   * @param pointer JSON pointer to the list of entitlements in the request
   * @throws {ProblemError} `reference_not_found`, `plan_entitlement_contradicts`
   */
  async assertEntitlements(listed: readonly PlanEntitlement[], pointer: string): Promise<void> {
    if (listed.length === 0) return;
    const types = await this.features.requireTypesForReference(
      listed.map(({ entitlementId }) => entitlementId),
      (index) => `${pointer}/${index}/entitlement_id`,
    );
    const faults = faultsOfPlanEntitlements(listed, types, pointer);
    if (faults.length > 0) throw planEntitlementContradicts(faults);
  }
}

function assertNone(faults: readonly TermsFault[]): void {
  if (faults.length > 0) throw priceTermsContradict(faults);
}
