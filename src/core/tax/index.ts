export {
  exactTaxesOf,
  taxInvoice,
  type RateTotal,
  type TaxableLine,
  type AppliedTaxRate,
  type TaxShare,
  type TaxTreatment,
} from './tax';
