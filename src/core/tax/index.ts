export {
  exactTaxesOf,
  taxInvoice,
  type TaxRateTotal,
  type TaxableLine,
  type AppliedTaxRate,
  type TaxShare,
  type TaxTreatment,
} from './tax';
