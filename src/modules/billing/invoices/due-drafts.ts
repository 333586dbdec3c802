import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DUE_DRAFTS, type DueDraft } from '../../invoicing';
import { type DueQueue, DueQueues } from '../../test-clocks';
import { FinalizeDueDraftsWorkflow } from './finalize-due-drafts.workflow';

/** Finalizes renewal drafts whose grace period is over. One commit finalizes at most one draft of each subscription. */
@Injectable()
export class DueDrafts implements OnModuleInit {
  private readonly queue: DueQueue<DueDraft> = {
    name: 'due-drafts',
    rows: DUE_DRAFTS,
    batchesOf: roundsOf,
    run: (drafts, now) => this.finalizeDueDrafts.finalizeDue(drafts, now),
    whenRefused: 'postpone',
  };

  constructor(
    private readonly queues: DueQueues,
    private readonly finalizeDueDrafts: FinalizeDueDraftsWorkflow,
  ) {}

  onModuleInit(): void {
    this.queues.register(this.queue);
  }

  runDue(): Promise<boolean> {
    return this.queues.runDue(this.queue);
  }
}

/**
 * Divides drafts into rounds with at most one draft of each subscription. The first round has the first draft of each
 * subscription, the second round the second draft, and so on.
 */
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
