export { assembleInvoice, type InvoiceContents } from './assemble';
export type { Commitment } from './commitments';
export type { CreditGrant } from './credit-balance';
export {
  creditNoteOfRest,
  CreditNoteParts,
  type CreditableLine,
  type CreditNoteAmounts,
  type CreditNoteLine,
  type LeftTogether,
} from './credit-note';
export type { AppliedCredit, AssembledInvoice, DiscountShare, LineAmount, LineKind } from './line';
export { creditForUnused, forFullPeriod, unusedShare, type PrepaidLine } from './plan-change';
export {
  creditShare,
  maxWithTax,
  partWithin,
  taxOfPart,
  type CreditedShare,
  type HeldLines,
} from './credit-share';
