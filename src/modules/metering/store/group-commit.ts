import { AsyncResource } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { isDatabaseUnavailable, isLockTimeout } from '../../../platform/database';
import type { UsageEvent } from '../domain/usage-event';
import type { Verdict } from './append-result';
import { AppendUsage } from './append-usage';
import type { Patience } from './usage-streams';

/** As many as fit into one statement. */
const MOST_TOGETHER = 500;

interface Waiting {
  readonly event: UsageEvent;
  readonly settle: (verdict: Verdict | null) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Writes single events together: whatever came while the last commit was under way goes into the next. Two lanes, so that
 * nobody waits for a stream that is not its own: what finds its stream held steps aside and waits in the second.
 */
@Injectable()
export class GroupCommit {
  private readonly quick: Lane;
  private readonly patient: Lane;

  constructor(append: AppendUsage) {
    this.patient = new Lane(append, 'wait', null);
    this.quick = new Lane(append, 'skip', this.patient);
  }

  /** What became of the event, null if it was stored; known once that is committed. */
  write(event: UsageEvent): Promise<Verdict | null> {
    return new Promise((settle, fail) => this.quick.add({ event, settle, fail }));
  }
}

class Lane {
  private readonly waiting: Waiting[] = [];
  private isWriting = false;
  /** What is written is no part of the request that happened to come first. */
  private readonly outside = new AsyncResource('usage-lane');

  constructor(
    private readonly append: AppendUsage,
    private readonly patience: Patience,
    private readonly next: Lane | null,
  ) {}

  add(one: Waiting): void {
    this.waiting.push(one);
    if (this.isWriting) return;
    this.isWriting = true;
    this.outside.runInAsyncScope(() => void this.writeAll());
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) await this.write(this.waiting.splice(0, MOST_TOGETHER));
    this.isWriting = false;
  }

  private async write(group: readonly Waiting[]): Promise<void> {
    try {
      const events = group.map(({ event }, index) => ({ ...event, index }));
      const { missed } = await this.append.append(events, this.patience);
      const verdicts = new Map(missed.map(({ index, verdict }) => [index, verdict]));
      for (const [index, one] of group.entries()) this.answer(one, verdicts.get(index) ?? null);
    } catch (error) {
      await this.writeApart(group, error);
    }
  }

  private answer(one: Waiting, verdict: Verdict | null): void {
    if (verdict !== 'busy') {
      one.settle(verdict);
      return;
    }
    invariant(this.next !== null, 'The last lane waits for whatever is held.');
    this.next.add(one);
  }

  /** What one of them has broken is not to fail the others. */
  private async writeApart(group: readonly Waiting[], error: unknown): Promise<void> {
    const [first, ...others] = group;
    const isHopeless = isDatabaseUnavailable(error) && !isLockTimeout(error);
    if (others.length === 0 || isHopeless) {
      for (const one of group) one.fail(error);
      return;
    }
    if (first !== undefined) await this.write([first]);
    for (const one of others) await this.write([one]);
  }
}
