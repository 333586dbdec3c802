export type { EarnedPeriod } from './domain/earned-period';
export { leavesNothingToPay, mayInvoiceBecome } from './domain/finalize';
export { type Invoice, isCredited } from './domain/invoice';
export type { CreditLineRequest } from './domain/line-item-request';
export {
  maxRefundable,
  type ReturnedMoney,
  NOTHING_REFUNDED,
  NOTHING_RETURNED,
  type RefundedAmount,
  type RefundedOf,
  type CoveredCredit,
  NOTHING_COVERED,
} from './domain/given-back';
export type { BillingPeriods, GivenBackTerms, BillingRequest } from './domain/billing-request';
export { GivenBackService } from './given-back.service';
export {
  InvoiceDto,
  InvoicePreviewDto,
  toInvoiceDto,
  toInvoicePreviewDto,
} from './dto/invoice.dto';
export type { CreditUse } from './domain/credit-grant';
export { CreditBalanceService, type PaymentCredit } from './credit-balance.service';
export type { OriginUse } from './credit-grants.repository';
export { FinalizeInvoicesService } from './finalize-invoices.service';
export { attemptsFailure, type RetryPlan } from './domain/invoice-collection';
export {
  DueInvoicesRepository,
  NEXT_COLLECTION,
  type TimeScope,
  WAITING_FOR_COLLECTION,
} from './due-invoices.repository';
export { InvoiceCollectionService } from './invoice-collection.service';
export { InvoicePaymentsService } from './invoice-payments.service';
export {
  creditExceedsLine,
  creditGivenBackAlready,
  creditNoteNotFound,
  creditNoteCorrected,
  creditNoteSettled,
  creditTakesNothing,
  invoiceCredited,
  invoiceEmpty,
  invoiceNotCreditable,
  invoiceNotFound,
  invoiceNotPayable,
  invoiceNotVoid,
  invoiceOvertaken,
  invoiceNotOwed,
  invoicePartlyPaid,
  invoicePaymentPending,
  invoiceRegenerated,
  invoiceTooLarge,
  paymentExceedsInvoice,
  simulatedPriceUnmatched,
} from './invoicing.errors';
export { InvoicingModule } from './invoicing.module';
export { BillingContextService } from './billing-context.service';
export { IssueInvoiceService } from './issue-invoice.service';
export { DUE_DRAFTS, type DueDraft } from './renewal-drafts.repository';
export { RegenerateInvoiceService } from './regenerate-invoice.service';
export {
  CREDIT_BALANCE_ROWS,
  CREDIT_OF_PAYMENTS_ROWS,
  INVOICES_PAID_ROWS,
  INVOICES_RESERVED_ROWS,
  LOST_CREDIT_ROWS,
  CREDIT_NOTE_REFUND_ROWS,
  REFUNDED_CREDIT_ROWS,
} from './summed-rows';
export {
  SimulatePricesService,
  type SimulationCommand,
  type SimulationStep,
} from './simulate-prices.service';
export type { UsageQuote } from './domain/usage-quote';
export { UsageQuotesService } from './usage-quotes.service';
export { InvoicesService } from './invoices.service';
export { VoidInvoiceService } from './void-invoice.service';
export { CreditNotesService, type CreditNoteWithLimits } from './credit-notes.service';
export type { WaitingDraft } from './domain/grace';
export { draftsWithCreditedCharges } from './domain/renewal-draft';
export {
  CreateCreditNoteDto,
  CreditLineInputDto,
  CreditNoteDto,
  toCreditedLine,
  toCreditNoteDto,
  toCreditNoteRequest,
} from './dto/credit-note.dto';
export type { CreditNote, CreditNoteRequest } from './domain/credit-note';
export { payableOf, unpaidOf } from './domain/invoice-payment';
