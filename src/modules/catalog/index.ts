export { priceTermsContradict } from './catalog.errors';
export { CatalogModule } from './catalog.module';
export { CatalogService } from './catalog.service';
export type { Addon } from './domain/addon';
export type { PlanEntitlement, PlanVersion } from './domain/plan';
export type { CatalogPrice, PriceTerms } from './domain/price';
export { toPrice } from './domain/price';
export { PriceInputDto, toPriceTerms } from './dto/price-input.dto';
