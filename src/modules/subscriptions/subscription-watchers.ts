import { Injectable } from '@nestjs/common';
import type { Subscription } from './domain/subscription';

/** A subscription as a commit found it and as it leaves it; `before` is null for a new one. */
export interface SubscriptionChange {
  readonly before: Subscription | null;
  readonly after: Subscription;
}

/** What of a module above follows from what becomes of subscriptions. */
export interface SubscriptionWatcher {
  /** Locks what it keeps of the customers of these subscriptions, which its transaction goes on to change. */
  readonly lock: (subscriptions: readonly Subscription[]) => Promise<void>;
  /** Called in the transaction that changes subscriptions, after their rows are written and before they are invoiced. */
  readonly follow: (changes: readonly SubscriptionChange[], now: Date) => Promise<void>;
}

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

  async lock(subscriptions: readonly Subscription[]): Promise<void> {
    for (const { lock } of this.watchers) await lock(subscriptions);
  }

  async tell(changes: readonly SubscriptionChange[], now: Date): Promise<void> {
    if (changes.length === 0) return;
    for (const { follow } of this.watchers) await follow(changes, now);
  }
}
