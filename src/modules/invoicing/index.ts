export type { EarnedPeriod } from './domain/earned-period';
export type { Collection, Invoice, InvoiceReason } from './domain/invoice';
export type {
  BilledPrice,
  ChargeOrder,
  CreditOrder,
  LineOrder,
  UsageOrder,
} from './domain/line-order';
export type { InvoiceOrder } from './domain/order';
export type { Standing } from './domain/reissue';
export {
  InvoiceDto,
  InvoicePreviewDto,
  toInvoiceDto,
  toInvoicePreviewDto,
} from './dto/invoice.dto';
export { CreditBalanceService, type CreditOfPayment } from './credit-balance.service';
export { ExactJsonColumn } from './exact-json.column';
export { FinalizeInvoicesService } from './finalize-invoices.service';
export { InvoiceBooks } from './invoice-books';
export type { RetryPlan } from './domain/invoice-collection';
export type { TimeScope } from './due-invoices.repository';
export { AttemptsUnderWay } from './attempts-under-way';
export { EarnedTimes } from './earned-times';
export { InvoiceCollectionService } from './invoice-collection.service';
export { InvoiceFollowers } from './invoice-followers';
export { InvoicePaymentsService } from './invoice-payments.service';
export {
  invoiceNotFound,
  invoiceNotPayable,
  invoiceNotVoid,
  invoiceOvertaken,
  invoicePaymentPending,
  invoiceReissued,
  invoiceTooLarge,
  paymentExceedsInvoice,
} from './invoicing.errors';
export { InvoicingModule } from './invoicing.module';
export { IssueInvoiceService } from './issue-invoice.service';
export type { DueDraft } from './renewal-drafts.repository';
export { PaymentReturns } from './payment-returns';
export { ReissueInvoiceService } from './reissue-invoice.service';
export {
  CREDIT_BALANCE_ROWS,
  CREDIT_OF_PAYMENTS_ROWS,
  INVOICES_PAID_ROWS,
  INVOICES_RESERVED_ROWS,
  NOTED_REFUND_ROWS,
  REFUNDED_CREDIT_ROWS,
} from './summed-rows';
export type { UsageQuote } from './domain/usage-quote';
export { UsageQuotesService } from './usage-quotes.service';
export { WithdrawInvoicesService } from './withdraw-invoices.service';
