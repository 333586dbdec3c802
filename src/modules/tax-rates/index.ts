export type { TaxRate } from './domain/tax-rate';
export { TaxRatesModule } from './tax-rates.module';
export { TaxRatesService } from './tax-rates.service';
