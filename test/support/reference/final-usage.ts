import { FOREVER } from './items';

const COLLECTED_MS = 3_600_000;

/** Bills usage that changes after the last invoice of its subscription, one hour after the first change. */
export class FinalUsage {
  /** Due instants, by the index of the subscription. */
  private readonly dueAt = new Map<number, number>();

  get planned(): readonly number[] {
    return [...this.dueAt.values()];
  }

  get nextDueAt(): number {
    return Math.min(FOREVER, ...this.planned);
  }

  /** Called when the last invoice of a subscription is made. This invoice bills all late usage, so nothing is due then. */
  close(subscription: number): void {
    this.dueAt.set(subscription, FOREVER);
  }

  /** Called when billed usage of a subscription changes. While the subscription runs, its next invoice bills the change. */
  changed(subscription: number, now: number): void {
    if (this.dueAt.get(subscription) === FOREVER) this.dueAt.set(subscription, now + COLLECTED_MS);
  }

  /** Returns the indexes of the due subscriptions, in due order. */
  due(now: number): readonly number[] {
    return [...this.dueAt]
      .filter(([, dueAt]) => dueAt <= now)
      .sort(([one, first], [other, second]) => first - second || one - other)
      .map(([subscription]) => subscription);
  }
}
