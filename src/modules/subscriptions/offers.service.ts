import { Injectable } from '@nestjs/common';
import { type Addon, CatalogService, type Plan, type Price, toRatingPrice } from '../catalog';
import type { AddonQuantity, Offer, SoldPrice } from './domain/subscription';
import { subscriptionTermsContradict } from './subscriptions.errors';

/** What a caller chose. */
export interface Choice {
  readonly planId: string;
  /** Decimal string. */
  readonly quantity: string;
  readonly addons: readonly AddonQuantity[];
}

/** Turns what a caller chose into prices. */
@Injectable()
export class OffersService {
  constructor(private readonly catalog: CatalogService) {}

  /**
   * The plan's active version and the add-ons, with their prices, in the caller's transaction.
   * @throws {ProblemError} `reference_not_found`, `subscription_terms_contradict`
   */
  async resolve(choice: Choice): Promise<{ readonly offer: Offer; readonly plan: Plan }> {
    const plan = await this.catalog.requirePlanForReference(choice.planId, '/plan_id');
    const version = plan.activeVersion;
    const items: Offer['items'][number][] = version.prices.map((price) => ({
      addonId: null,
      price: toSoldPrice(price),
      quantity: choice.quantity,
    }));
    for (const [index, { addonId, quantity }] of choice.addons.entries()) {
      const pointer = `/addons/${index}/addon_id`;
      const addon = await this.catalog.requireAddonForReference(addonId, pointer);
      assertFits(addon, plan, choice.addons, pointer);
      for (const price of addon.prices) {
        items.push({ addonId, price: toSoldPrice(price), quantity });
      }
    }
    const { interval, intervalCount, proration } = version;
    const { quantity, addons } = choice;
    const offer = {
      planId: plan.id,
      planVersionId: version.id,
      interval,
      intervalCount,
      proration,
      quantity,
      addons,
      items,
    };
    return { offer, plan };
  }
}

function assertFits(
  addon: Addon,
  plan: Plan,
  addons: readonly AddonQuantity[],
  pointer: string,
): void {
  if (addon.currency !== plan.currency) {
    throw subscriptionTermsContradict(pointer, `is in ${addon.currency}, not in ${plan.currency}`);
  }
  if (addons.filter(({ addonId }) => addonId === addon.id).length > 1) {
    throw subscriptionTermsContradict(pointer, 'is named twice');
  }
}

function toSoldPrice(price: Price): SoldPrice {
  const { meterId, isByGroup } = price;
  return {
    priceId: price.id,
    name: price.name,
    timing: price.timing,
    rating: toRatingPrice(price),
    minimumMinor: price.minimumAmount,
    maximumMinor: price.maximumAmount,
    ...(meterId === null ? {} : { usage: { meterId, isByGroup } }),
  };
}
