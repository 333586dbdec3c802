import fc from 'fast-check';
import { advance } from './advance';
import { issueNote, voidNote } from './credit-notes';
import type { BillingCommand } from './engine';
import { finalize, onInvoice } from './invoices';
import { pay, payAhead, refund, settle, settleRefund, takeCard } from './payments';
import { cancel, change, plain, redeem, subscribe } from './subscriptions';
import { report, voidUsage } from './usage';

export type { EngineUnderTest } from './engine';

/** First commands of every sequence, because nothing happens without a subscription. */
export const firstCommand: fc.Arbitrary<BillingCommand> = subscribe;

export function billingCommands(most: number): fc.Arbitrary<Iterable<BillingCommand>> {
  const changes = [subscribe, change, change, change, change, cancel, plain, plain, redeem];
  const usage = [report, report, report, voidUsage, voidUsage];
  const invoices = [onInvoice, onInvoice, onInvoice, finalize, issueNote, issueNote, voidNote];
  const money = [
    takeCard,
    takeCard,
    pay,
    pay,
    payAhead,
    settle,
    settle,
    refund,
    refund,
    settleRefund,
  ];
  const moves = [advance, advance, advance, advance];
  return fc.commands([...changes, ...usage, ...invoices, ...money, ...moves], {
    maxCommands: most,
    size: 'max',
  });
}
