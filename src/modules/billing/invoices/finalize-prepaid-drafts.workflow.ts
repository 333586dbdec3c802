import { Injectable } from '@nestjs/common';
import {
  draftsWithCreditedCharges,
  FinalizeInvoicesService,
  type GivenBackTerms,
  type WaitingDraft,
} from '../../invoicing';
import {
  type Decision,
  SubscriptionPeriodsService,
  affectsPrepaidCharges,
} from '../../subscriptions';
import { BillingLocks } from '../billing-locks';

/**
 * Finalizes renewal drafts early. Only a finalized charge can be credited, so this is needed before a decision that
 * credits charges billed in advance on these drafts, or shortens their period. For a preview, also finalizes the drafts
 * that would be finalized before the previewed invoice; the caller then rolls everything back.
 *
 * 1. Locks the drafts of the subscriptions. The caller has locked the subscriptions.
 * 2. Reads, for each subscription, the instant up to which charges billed in advance are earned.
 * 3. Calls {@link BillingLocks.lockBeforeInvoices}.
 * 4. Finalizes the drafts one after the other, so that each uses the coupons and the credit that remain after the
 *    earlier drafts.
 */
@Injectable()
export class FinalizePrepaidDraftsWorkflow {
  constructor(
    private readonly periods: SubscriptionPeriodsService,
    private readonly locks: BillingLocks,
    private readonly finalizeInvoices: FinalizeInvoicesService,
  ) {}

  /**
   * Finalizes a draft if a decision credits charges on the draft or shortens their period. Call it before writing the
   * decisions, in the same transaction.
   */
  finalize(decisions: readonly Decision[], givenBack: GivenBackTerms, now: Date): Promise<void> {
    const taking = decisions.filter(({ outcome }) => affectsPrepaidCharges(outcome));
    return this.finalizeOf(taking, givenBack, now, () => false);
  }

  /**
   * Finalizes the same drafts as `finalize`, for one decision. Also finalizes the drafts whose grace period ends before
   * the previewed invoice is finalized, because these drafts use coupons and credit first. Call it in a transaction
   * that is rolled back.
   */
  finalizeForPreview(
    decision: Decision,
    givenBack: GivenBackTerms,
    now: Date,
    finalizedAt: Date,
  ): Promise<void> {
    const isDueBefore = ({ finalizesAt }: WaitingDraft): boolean =>
      now < finalizedAt && finalizesAt <= finalizedAt;
    return this.finalizeOf([decision], givenBack, now, isDueBefore);
  }

  private async finalizeOf(
    decisions: readonly Decision[],
    givenBack: GivenBackTerms,
    now: Date,
    isDue: (draft: WaitingDraft) => boolean,
  ): Promise<void> {
    const ids = decisions.map(({ before }) => before.id);
    const waiting = await this.finalizeInvoices.lockWaitingOf(ids);
    if (waiting.length === 0) return;
    const earned = await this.periods.earnedUntil(ids);
    const outcomes = new Map(decisions.map(({ before, outcome }) => [before.id, outcome]));
    const credited = draftsWithCreditedCharges(waiting, earned, ({ subscriptionId }, itemId) => {
      const outcome = outcomes.get(subscriptionId ?? '');
      return outcome !== undefined && affectsPrepaidCharges(outcome, itemId);
    });
    const drafts = waiting.filter((draft) => isDue(draft) || credited.includes(draft));
    if (drafts.length === 0) return;
    await this.locks.lockBeforeInvoices(decisions.map(({ before }) => before));
    for (const draft of drafts) {
      await this.finalizeInvoices.finalizeAll([draft], earned, givenBack, now);
    }
  }
}
