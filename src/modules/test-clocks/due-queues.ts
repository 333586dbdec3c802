import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs, runAsBatch } from '../../platform/jobs';
import { Claims } from '../../platform/processes';
import { postponedUntil } from './postpone';
import { type TestClockJob, TestClockParticipants } from './test-clock-participants';

const MOST_AT_ONCE = 50;
const IDLE_MS = 1_000;
const LEASE_MS = 60_000;

/** Rows that fall due by the real clock, and by a test clock while it moves. */
export interface DueQueue<Item extends string | { readonly id: string }> {
  readonly name: TestClockJob['name'];
  readonly table: string;
  /** Leases up to `most` rows that are due by the real clock, in their column `lease_ends_at`. */
  readonly claimDue: (now: Date, leaseEndsAt: Date, most: number) => Promise<readonly Item[]>;
  readonly nextDueOn: (testClockId: string) => Promise<Date | null>;
  readonly dueOn: (testClockId: string, now: Date, most: number) => Promise<readonly Item[]>;
  /** Does the work of all given items in one commit, or of none. */
  readonly run: (items: readonly Item[], now: Date) => Promise<void>;
  /** Divides items into batches, which run one after the other. Without it they are one batch. */
  readonly batchesOf?: (items: readonly Item[]) => readonly (readonly Item[])[];
  /** Postpones refused work on a test clock. Without it a refusal stops the clock, as a defect does. */
  readonly postpone?: (item: Item, until: Date) => Promise<void>;
}

/** Runs due queues in the background and on test clocks. */
@Injectable()
export class DueQueues {
  private readonly logger = new Logger('due-queues');

  constructor(
    private readonly jobs: Jobs,
    private readonly claims: Claims,
    private readonly testClocks: TestClockParticipants,
    private readonly clock: Clock,
  ) {}

  /** Registers a queue. Call it while the owning module starts. */
  register<Item extends string | { readonly id: string }>(queue: DueQueue<Item>): void {
    const { name, table } = queue;
    this.jobs.register({ name, idleMs: IDLE_MS, runDue: () => this.runDue(queue) });
    this.claims.register({ work: name, table, leaseColumn: 'lease_ends_at' });
    this.testClocks.registerJob({
      name,
      nextDueAt: (testClockId) => queue.nextDueOn(testClockId),
      runDue: (testClockId, now) => this.runDueOn(queue, testClockId, now),
    });
  }

  /**
   * Claims rows that are due and does their work; returns true if more may be due. Where a batch fails, each item has a
   * commit of its own, so that one that fails affects only itself: it keeps its lease and is tried again when that ends.
   */
  async runDue<Item extends string | { readonly id: string }>(
    queue: DueQueue<Item>,
  ): Promise<boolean> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const items = await this.claims.claim(queue.name, leaseEndsAt, () =>
      queue.claimDue(now, leaseEndsAt, MOST_AT_ONCE),
    );
    await this.run(queue, items, now, (error, item) => {
      this.logger.error({ err: error, ...namesOf(queue, item) }, 'due work failed');
    });
    return items.length > 0;
  }

  /** Does the work that is due on a test clock. Refused work is postponed; a defect stops the clock. */
  private async runDueOn<Item extends string | { readonly id: string }>(
    queue: DueQueue<Item>,
    testClockId: string,
    now: Date,
  ): Promise<void> {
    const items = await queue.dueOn(testClockId, now, MOST_AT_ONCE);
    await this.run(queue, items, now, async (error, item) => {
      if (queue.postpone === undefined) throw error;
      const until = postponedUntil(error, now);
      this.logger.error(
        { err: error, ...namesOf(queue, item), until },
        'due work was refused and is postponed',
      );
      await queue.postpone(item, until);
    });
  }

  private async run<Item extends string | { readonly id: string }>(
    queue: DueQueue<Item>,
    items: readonly Item[],
    now: Date,
    onItemFailure: (error: unknown, item: Item) => void | Promise<void>,
  ): Promise<void> {
    for (const batch of queue.batchesOf?.(items) ?? [items]) {
      await runAsBatch(batch, (some) => queue.run(some, now), {
        onBatchFailure: (error) => {
          this.logger.warn(
            { err: error, work: queue.name, items: batch.length },
            'due work failed together, and is done one by one',
          );
        },
        onItemFailure,
      });
    }
  }
}

function namesOf(
  { name }: { readonly name: string },
  item: string | { readonly id: string },
): { readonly work: string; readonly id: string } {
  return { work: name, id: typeof item === 'string' ? item : item.id };
}
