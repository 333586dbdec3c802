export {
  taxInvoice,
  type InvoiceTax,
  type RateTotal,
  type TaxableLine,
  type TaxedLine,
  type TaxRate,
  type TaxShare,
  type TaxTreatment,
} from './tax';
