import { FOREVER } from './items';

const COLLECTED_MS = 3_600_000;

/** When usage is billed that changes after the last invoice of its subscription was made: an hour after the first change. */
export class FinalUsage {
  /** By the index of the subscription. */
  private readonly dueAt = new Map<number, number>();

  get planned(): readonly number[] {
    return [...this.dueAt.values()];
  }

  get nextDueAt(): number {
    return Math.min(FOREVER, ...this.planned);
  }

  /** The last invoice was made; nothing is late. */
  close(subscription: number): void {
    this.dueAt.set(subscription, FOREVER);
  }

  /** Usage changed that a subscription billed; one that goes on bills it with its next invoice. */
  changed(subscription: number, now: number): void {
    if (this.dueAt.get(subscription) === FOREVER) this.dueAt.set(subscription, now + COLLECTED_MS);
  }

  /** In due order. */
  due(now: number): readonly number[] {
    return [...this.dueAt]
      .filter(([, dueAt]) => dueAt <= now)
      .sort(([one, first], [other, second]) => first - second || one - other)
      .map(([subscription]) => subscription);
  }
}
