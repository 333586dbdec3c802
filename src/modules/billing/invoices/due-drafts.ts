import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs, runAsBatch } from '../../../platform/jobs';
import { Claims } from '../../../platform/processes';
import { type DueDraft, FinalizeInvoicesService } from '../../invoicing';
import { postponedUntil, TestClockParticipants } from '../../test-clocks';
import { FinalizeDueDraftsWorkflow } from './finalize-due-drafts.workflow';

const NAME = 'due-drafts';
const AT_ONCE = 50;
const EVERY_MS = 1_000;
const LEASE_MS = 60_000;

/** Finalises the drafts of renewals whose grace has passed: by the real clock in the background, by a test clock as it moves. */
@Injectable()
export class DueDrafts implements OnModuleInit {
  private readonly logger = new Logger(NAME);

  constructor(
    private readonly jobs: Jobs,
    private readonly claims: Claims,
    private readonly testClocks: TestClockParticipants,
    private readonly clock: Clock,
    private readonly drafts: FinalizeInvoicesService,
    private readonly finalizing: FinalizeDueDraftsWorkflow,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: NAME, idleMs: EVERY_MS, runDue: () => this.runDue() });
    this.claims.register({ work: NAME, table: 'invoice', leaseColumn: 'lease_ends_at' });
    this.testClocks.registerJob({
      name: NAME,
      nextDueAt: (testClockId) => this.drafts.nextDueOn(testClockId),
      runDue: (testClockId, now) => this.runDueOn(testClockId, now),
    });
  }

  /**
   * Claims drafts that are due and finalises them, those of different subscriptions in one commit; returns whether there may
   * be more. One that cannot be finalised harms only itself: it keeps its lease, and is tried again when that has ended.
   */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const claimed = await this.claims.claim(NAME, leaseEndsAt, () =>
      this.drafts.claimDue(now, leaseEndsAt, AT_ONCE),
    );
    for (const round of roundsOf(claimed)) {
      await this.finalize(round, now, (error, { id }) => {
        this.logger.error({ err: error, invoice_id: id }, 'a draft could not be finalised');
      });
    }
    return claimed.length > 0;
  }

  /** Finalises due drafts of a test clock. Refused work is postponed; a defect stops the clock. */
  private async runDueOn(testClockId: string, now: Date): Promise<void> {
    const due = await this.drafts.dueOn(testClockId, now, AT_ONCE);
    for (const round of roundsOf(due)) {
      await this.finalize(round, now, async (error, { id }) => {
        const until = postponedUntil(error, now);
        this.logger.error({ err: error, invoice_id: id, until }, 'a draft was postponed');
        await this.drafts.postpone(id, until);
      });
    }
  }

  private finalize(
    drafts: readonly DueDraft[],
    now: Date,
    onFailure: (error: unknown, draft: DueDraft) => void | Promise<void>,
  ): Promise<void> {
    return runAsBatch(drafts, (some) => this.finalizing.finalizeDue(some, now), {
      onBatchFailure: (error) => {
        const text = 'drafts could not be finalised together, and are one by one';
        this.logger.warn({ err: error, drafts: drafts.length }, text);
      },
      onItemFailure: onFailure,
    });
  }
}

/** The drafts in turns: the first of each subscription, the second of each, and so on. */
function roundsOf(drafts: readonly DueDraft[]): readonly (readonly DueDraft[])[] {
  const rounds: DueDraft[][] = [];
  const counts = new Map<string, number>();
  for (const draft of drafts) {
    const turn = counts.get(draft.subscriptionId) ?? 0;
    counts.set(draft.subscriptionId, turn + 1);
    (rounds[turn] ??= []).push(draft);
  }
  return rounds;
}
