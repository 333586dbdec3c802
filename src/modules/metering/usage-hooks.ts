import { Injectable } from '@nestjs/common';
import type { Rational } from '../../core/decimal';
import type { Period } from '../../core/time';

/** A registered window (a period with running totals of its own) whose usage may have changed. */
export interface ChangedWindow {
  readonly customerId: string;
  readonly meterId: string;
  readonly period: Period;
  /** Current usage of the window over all groups, including the value that a recurring meter carried over into it. */
  readonly usage: Rational;
}

/**
 * Called in the transaction that stores or voids events, after the transaction has locked their streams (one per event
 * name and customer).
 */
export type UsageHook = (windows: readonly ChangedWindow[]) => Promise<void>;

/**
 * Callbacks that other modules register when the application starts. They run in the transaction that stores or voids
 * events. They must not take locks that come before streams in the lock order.
 */
@Injectable()
export class UsageHooks {
  private readonly hooks: UsageHook[] = [];

  get isEmpty(): boolean {
    return this.hooks.length === 0;
  }

  register(hook: UsageHook): void {
    this.hooks.push(hook);
  }

  async run(windows: readonly ChangedWindow[]): Promise<void> {
    if (windows.length === 0) return;
    for (const hook of this.hooks) await hook(windows);
  }
}
