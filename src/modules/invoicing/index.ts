export type { EarnedPeriod } from './domain/earned-period';
export type { Collection, Invoice, InvoiceReason } from './domain/invoice';
export type {
  BilledPrice,
  ChargeOrder,
  CreditOrder,
  InvoiceOrder,
  LineOrder,
} from './domain/order';
export { InvoicePreviewDto, toInvoicePreviewDto } from './dto/invoice.dto';
export { ExactJsonColumn } from './exact-json.column';
export { InvoiceBooks } from './invoice-books';
export { type CustomerSum, InvoicePaymentsService } from './invoice-payments.service';
export {
  invoiceNotFound,
  invoiceNotPayable,
  invoicePaymentPending,
  invoiceTooLarge,
  paymentExceedsInvoice,
} from './invoicing.errors';
export { InvoicingModule } from './invoicing.module';
export { IssueInvoiceService } from './issue-invoice.service';
