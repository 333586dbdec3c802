import { Injectable } from '@nestjs/common';
import type { Subscription } from './domain/subscription';

/** A subscription as a commit found it and as it leaves it; `before` is null for a new one. */
export interface SubscriptionChange {
  readonly before: Subscription | null;
  readonly after: Subscription;
}

/** Called in the transaction that changes subscriptions, after their rows are written. */
export type SubscriptionWatcher = (
  changes: readonly SubscriptionChange[],
  now: Date,
) => Promise<void>;

/**
 * Modules above that keep something in step with subscriptions register here while they start: what they write is in the
 * commit of the change. Whoever writes subscriptions tells of all that it changes at once.
 */
@Injectable()
export class SubscriptionWatchers {
  private readonly watchers: SubscriptionWatcher[] = [];

  register(watcher: SubscriptionWatcher): void {
    this.watchers.push(watcher);
  }

  async tell(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    if (changes.length === 0) return;
    for (const watch of this.watchers) await watch(changes, now);
  }
}
