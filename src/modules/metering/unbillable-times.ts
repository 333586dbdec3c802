import { Injectable } from '@nestjs/common';
import type { Period } from '../../core/time';
import type { Meter } from '../meters';

/** Whose usage of which meter, and what time it is for them. */
export interface UsageOf {
  readonly customerId: string;
  readonly meter: Meter;
  readonly now: Date;
}

/** Times whose events no bill will count, as things stand; read in the transaction of the caller. */
export type UnbillableTime = (usage: UsageOf) => Promise<readonly Period[]>;

/** What is sold, and when, belongs to a module above, which registers here while it starts. */
@Injectable()
export class UnbillableTimes {
  private readonly times: UnbillableTime[] = [];

  register(unbillable: UnbillableTime): void {
    this.times.push(unbillable);
  }

  async of(usage: UsageOf): Promise<readonly Period[]> {
    const found: Period[] = [];
    for (const unbillable of this.times) found.push(...(await unbillable(usage)));
    return found;
  }
}
