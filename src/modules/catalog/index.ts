export { priceTermsContradict } from './catalog.errors';
export { CatalogModule } from './catalog.module';
export { CatalogService } from './catalog.service';
export type { Addon } from './domain/addon';
export type {
  EntitlementReset,
  Plan,
  PlanEntitlement,
  PlanInterval,
  PlanProration,
  PlanVersion,
} from './domain/plan';
export type { CatalogPrice, PriceModel, PriceTerms, PriceTier, PriceTiming } from './domain/price';
export { toPrice } from './domain/price';
export { PriceInputDto, toPriceTerms } from './dto/price-input.dto';
