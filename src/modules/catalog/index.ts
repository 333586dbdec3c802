export { CatalogModule } from './catalog.module';
export { CatalogService } from './catalog.service';
export type { Addon } from './domain/addon';
export type {
  FlatPrice,
  PackagePrice,
  PercentagePrice,
  PerUnitPrice,
  Price,
  PriceModel,
  PriceTier,
  PriceTiming,
  TieredPrice,
} from './domain/price';
