import { Injectable } from '@nestjs/common';
import type { Rational } from '../../core/decimal';
import type { Period } from '../../core/time';

/** A registered window whose usage changed, over all its groups and without what a recurring meter carried over. */
export interface MovedWindow {
  readonly customerId: string;
  readonly meterId: string;
  readonly period: Period;
  readonly before: Rational;
  readonly after: Rational;
}

/** Called in the transaction that stores or voids events, while their streams are held. */
export type UsageWatcher = (windows: readonly MovedWindow[]) => Promise<void>;

/**
 * Modules above that have to know when usage moves register here while they start: what they write is in the commit of
 * the events. They must not lock what comes before a stream in the order of locks.
 */
@Injectable()
export class UsageWatchers {
  private readonly watchers: UsageWatcher[] = [];

  get isEmpty(): boolean {
    return this.watchers.length === 0;
  }

  register(watcher: UsageWatcher): void {
    this.watchers.push(watcher);
  }

  async tell(windows: readonly MovedWindow[]): Promise<void> {
    if (windows.length === 0) return;
    for (const watch of this.watchers) await watch(windows);
  }
}
