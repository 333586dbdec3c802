import { Injectable } from '@nestjs/common';

/** Of each of these subscriptions, until when what it was billed in advance is earned. */
export type EarnedTime = (subscriptionIds: readonly string[]) => Promise<ReadonlyMap<string, Date>>;

/** Periods belong to a module above, which registers here while it starts. */
@Injectable()
export class EarnedTimes {
  private readonly times: EarnedTime[] = [];

  register(earnedUntil: EarnedTime): void {
    this.times.push(earnedUntil);
  }

  /** Those that nobody knows are left out. The subscriptions are locked, so that no period is closed meanwhile. */
  async of(subscriptionIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const found = await Promise.all(this.times.map((earnedUntil) => earnedUntil(subscriptionIds)));
    return new Map(found.flatMap((times) => [...times]));
  }
}
