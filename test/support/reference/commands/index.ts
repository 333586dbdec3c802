import fc from 'fast-check';
import { advance } from './advance';
import { issueNote, voidNote } from './credit-notes';
import type { BillingCommand } from './engine';
import { finalize, onInvoice } from './invoices';
import { activateVersion, archive } from './offers';
import { pay, payAhead, refund, settle, settleRefund, takeCard } from './payments';
import { cancel, change, plain, redeem, subscribe } from './subscriptions';
import { archiveTaxRate, changeTaxes } from './taxes';
import { report, voidUsage } from './usage';

export type { EngineUnderTest } from './engine';

/** First commands of every sequence, because nothing happens without a subscription. */
export const firstCommand: fc.Arbitrary<BillingCommand> = subscribe;

export function billingCommands(most: number): fc.Arbitrary<Iterable<BillingCommand>> {
  const often = [change, change, change, change, change, change, change, change];
  const changes = [subscribe, ...often, cancel, plain, plain, redeem];
  const offers = [activateVersion, activateVersion, archive];
  const taxes = [changeTaxes, changeTaxes, archiveTaxRate];
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
  const all = [...changes, ...offers, ...taxes, ...usage, ...invoices, ...money, ...moves];
  return fc.commands(all, { maxCommands: most, size: 'max' });
}
