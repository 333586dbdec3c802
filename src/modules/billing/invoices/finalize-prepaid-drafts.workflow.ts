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
 * Finalizes renewal drafts before their grace period ends. This is needed when a change of the subscription credits a
 * charge in advance on the draft, or shortens its period. Only charges on finalized invoices can be credited.
 *
 * 1. Locks the drafts of the subscriptions. The caller has locked the subscriptions.
 * 2. Reads, for each subscription, the time up to which charges in advance are recognized as revenue.
 * 3. Calls {@link BillingLocks.lockBeforeInvoices}.
 * 4. Finalizes the drafts one after the other, so that each draft uses the coupons and the credit that the earlier
 *    drafts left.
 */
@Injectable()
export class FinalizePrepaidDraftsWorkflow {
  constructor(
    private readonly periods: SubscriptionPeriodsService,
    private readonly locks: BillingLocks,
    private readonly finalizeInvoices: FinalizeInvoicesService,
  ) {}

  /**
   * Finalizes the drafts whose charges in advance are credited or shortened by a decision. (A decision is a change of a
   * subscription that is worked out but not yet written.) Call it in the transaction that writes the decisions, before
   * they are written.
   */
  finalize(decisions: readonly Decision[], givenBack: GivenBackTerms, now: Date): Promise<void> {
    const taking = decisions.filter(({ outcome }) => affectsPrepaidCharges(outcome));
    return this.finalizeOf(taking, givenBack, now, () => false);
  }

  /**
   * Finalizes drafts to preview a decided change of one subscription. Call it in a transaction that is rolled back.
   * Finalizes
   * - the drafts that `finalize` would finalize;
   * - if the previewed invoice is finalized later than now, also the drafts whose grace period ends by then. These
   *   drafts use coupons and credit before the previewed invoice does.
   * @param finalizedAt when the previewed invoice will be finalized
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
