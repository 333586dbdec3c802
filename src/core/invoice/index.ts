export { assembleInvoice, assertInvoiceAddsUp, type InvoiceContents } from './assemble';
export type { Commitment } from './commitments';
export { applyCredits, type CreditGrant } from './credit-balance';
export {
  creditableMinor,
  creditNote,
  type CreditableLine,
  type CreditNote,
  type CreditNoteLine,
  type CreditRequest,
} from './credit-note';
export type {
  AppliedCredit,
  AssembledInvoice,
  AssembledLine,
  DiscountShare,
  InvoiceLine,
  LineKind,
} from './line';
export { creditForUnused, unusedShare, type BilledLine } from './plan-change';
export { takeBack, taxOfPart, type HeldLines, type HeldTax, type TakenBack } from './take-back';
