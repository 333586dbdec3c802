export {
  postCreditNote,
  postInvoice,
  postPayment,
  postPaymentReturned,
  postRecovery,
  postRefund,
  postRevenueRelease,
  postVoid,
  postWriteOff,
  releasableMinor,
  type RevenueLine,
} from './post';
export {
  assertBalanced,
  type LedgerAccount,
  type LedgerTransaction,
  type Posting,
} from './transaction';
