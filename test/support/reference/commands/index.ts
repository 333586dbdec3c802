import fc from 'fast-check';
import { advance, advanceDays, advanceHours, advanceMonth } from './advance';
import { issueNote, notePrepaid, noteUsage, voidLastNote, voidNote } from './credit-notes';
import type { Reference } from '../model';
import type { BillingCommand, EngineUnderTest } from './engine';
import { finalize, onInvoice, regenerate, voidInvoice } from './invoices';
import { activateVersion, archive } from './offers';
import { pay, payAhead, refund, settle, settleRefund, takeCard } from './payments';
import {
  cancel,
  cancelWithCredit,
  change,
  changeGifted,
  pause,
  plain,
  resume,
  redeem,
  removeCoupon,
  subscribe,
  subscribeGifted,
  subscribeMetered,
  subscribeUsage,
} from './subscriptions';
import { archiveTaxRate, changeTaxes } from './taxes';
import { report, reportLate, reportToday, voidCreditedUsage, voidUsage } from './usage';

export type { EngineUnderTest } from './engine';

/**
 * Generates the first command of each sequence. Uses `noBias`, because a bias towards small values would mostly give
 * trials and subscriptions that wait for a payment.
 */
export const firstCommand: fc.Arbitrary<BillingCommand> = fc.noBias(
  fc.oneof(subscribe, subscribe, subscribe, subscribeUsage),
);

export function billingCommands(most: number): fc.Arbitrary<Iterable<BillingCommand>> {
  const commandsOf = (mix: readonly fc.Arbitrary<BillingCommand>[]) =>
    fc.commands([...mix], { maxCommands: most, size: 'max' });
  return fc.oneof(
    { weight: 2, arbitrary: commandsOf(BILLING) },
    { weight: 1, arbitrary: commandsOf(GIVING_BACK) },
    { weight: 2, arbitrary: commandsOf(REFUNDING) },
    { weight: 1, arbitrary: commandsOf(CORRECTING) },
    { weight: 2, arbitrary: commandsOf(BILLING_AGAIN) },
    { weight: 1, arbitrary: commandsOf(NOTING) },
    { weight: 1, arbitrary: commandsOf(REPORTING_LATE) },
    { weight: 2, arbitrary: commandsOf(DIVIDING) },
    { weight: 1, arbitrary: commandsOf(USING_AGAIN) },
  );
}

/** Commands of nearly all kinds. */
const BILLING = [
  ...[subscribe, change, change, change, change, change, change, change, change, cancel],
  ...[plain, plain, redeem, activateVersion, activateVersion, activateVersion, archive],
  removeCoupon,
  ...[changeTaxes, changeTaxes, archiveTaxRate, report, report, report, voidUsage, voidUsage],
  ...[onInvoice, onInvoice, onInvoice, finalize, issueNote, issueNote, voidNote],
  ...[takeCard, takeCard, pay, pay, payAhead, settle, settle, refund, refund, settleRefund],
  ...[advance, advance, advance, advance],
];

/** Commands for payments and for everything that returns money. */
const GIVING_BACK = [
  ...[subscribe, change, change, change, cancelWithCredit, cancelWithCredit, report, voidUsage],
  ...[
    voidInvoice,
    voidInvoice,
    regenerate,
    regenerate,
    onInvoice,
    changeTaxes,
    redeem,
    removeCoupon,
  ],
  ...[issueNote, issueNote, issueNote, voidNote, refund, refund, refund, settleRefund],
  ...[pay, pay, pay, payAhead, settle, takeCard, advance, advance, advance],
];

/** Commands for refunds before and after credits, which come from changes, cancellations and credit notes. */
const REFUNDING = [
  ...[subscribe, pay, pay, pay, pay, payAhead, refund, refund, refund, refund, settleRefund],
  ...[change, change, change, change, cancelWithCredit, cancelWithCredit, issueNote, redeem],
  ...[changeTaxes, voidInvoice, regenerate, activateVersion, advance],
];

/** Commands for usage that is billed, paid, refunded and voided. */
const CORRECTING = [
  ...[subscribe, report, report, report, report, voidUsage, voidUsage, voidUsage, voidUsage],
  ...[pay, pay, pay, refund, refund, settleRefund, advance, advance, advance, advance, cancel],
  ...[issueNote, voidInvoice, regenerate, changeTaxes, redeem],
];

/** Commands for usage on invoices that are voided and regenerated. */
const BILLING_AGAIN = [
  ...[subscribe, report, report, report, report, voidUsage, voidUsage, voidUsage, redeem],
  ...[
    voidInvoice,
    voidInvoice,
    voidInvoice,
    regenerate,
    regenerate,
    changeTaxes,
    cancel,
    removeCoupon,
  ],
  ...[advance, advance, advance, advance],
];

/** A sequence of commands that rarely follow each other in random order. Skips commands that do not fit. */
class Steps implements BillingCommand {
  constructor(private readonly steps: readonly BillingCommand[]) {}

  check(): boolean {
    return true;
  }

  async run(model: Reference, engine: EngineUnderTest): Promise<void> {
    for (const step of this.steps) if (step.check(model)) await step.run(model, engine);
  }

  toString(): string {
    return this.steps.map(String).join(', ');
  }
}

/** Commands for usage that is billed, credited by a note and corrected, before the note is voided. */
const noteThenCorrect = fc
  .tuple(
    ...[subscribeMetered, advanceDays, reportToday, advanceMonth, fc.oneof(pay, advanceDays)],
    ...[noteUsage, voidCreditedUsage, advanceMonth, voidLastNote],
  )
  .map((steps) => new Steps(steps));

/** Commands for a charge in advance that a note and then a change or an end credits, before the note is voided. */
const noteThenCredit = fc
  .tuple(
    ...[subscribe, notePrepaid, advanceDays, fc.oneof(change, cancelWithCredit)],
    ...[
      fc.oneof(advanceHours, voidInvoice, notePrepaid),
      voidNote,
      fc.oneof(regenerate, voidLastNote),
    ],
  )
  .map((steps) => new Steps(steps));

/**
 * Commands for credit notes on usage and on charges in advance that later invoices take back, and for credits that
 * refunds pay out.
 */
const NOTING = [
  ...[noteThenCredit, noteThenCredit, noteThenCredit],
  ...[noteThenCorrect, noteThenCorrect, noteThenCorrect, subscribe, report, reportToday, advance],
  ...[
    noteUsage,
    noteUsage,
    voidCreditedUsage,
    voidCreditedUsage,
    voidNote,
    cancelWithCredit,
    redeem,
  ],
  ...[pay, pay, payAhead, refund, refund, settleRefund, regenerate, voidInvoice, finalize],
];

/**
 * Commands for a pause of hours or days, sometimes over the end of a period. A change or another pause follows
 * directly.
 */
const pauseThenResume = fc
  .tuple(advanceHours, pause, fc.oneof(advanceHours, advanceDays), resume, fc.oneof(change, pause))
  .map((steps) => new Steps(steps));

/** Commands that divide a period: pauses and changes, on one day and on following days. */
const DIVIDING = [
  ...[subscribe, subscribeMetered, pauseThenResume, pauseThenResume, pauseThenResume, change],
  ...[change, change, report, cancel, resume, voidInvoice, advanceHours, advanceHours, advance],
];

/** Commands for late usage of periods billed without usage, and for invoices that are voided and regenerated. */
const REPORTING_LATE = [
  ...[
    subscribeUsage,
    reportLate,
    reportLate,
    reportLate,
    reportLate,
    reportLate,
    voidUsage,
    report,
  ],
  ...[advance, advance, advance, advance, advance, redeem, redeem, removeCoupon, finalize],
  ...[voidInvoice, voidInvoice, regenerate, regenerate, onInvoice, cancel, change],
];

/**
 * Commands for an amount that a change returns in part. Later invoices use it again, and the invoice of the change is
 * voided and regenerated.
 */
const returnThenVoid = fc
  .tuple(
    ...[subscribeGifted, advanceDays, changeGifted, fc.oneof(advanceMonth, advanceDays, change)],
    ...[voidInvoice, fc.oneof(regenerate, voidInvoice, advanceDays), regenerate, advanceMonth],
  )
  .map((steps) => new Steps(steps));

const USING_AGAIN = [
  ...[returnThenVoid, returnThenVoid, returnThenVoid, voidInvoice, voidInvoice, regenerate],
  ...[changeGifted, changeGifted, regenerate, redeem, removeCoupon, change, pay, cancelWithCredit],
  ...[advanceHours, advanceDays, advanceMonth],
];
