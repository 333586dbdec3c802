export {
  postCreditApplied,
  postCreditNote,
  postDisputeLost,
  postDisputeReinstated,
  postDisputeWithdrawn,
  postInvoice,
  postLossRecovered,
  postPayment,
  postPaymentReturned,
  postRecovery,
  postRefund,
  postRefundReturned,
  postRevenueRelease,
  postVoid,
  postWriteOff,
  type RevenueLine,
} from './post';
export {
  assertBalanced,
  type LedgerAccount,
  type LedgerTransaction,
  type Posting,
} from './transaction';
