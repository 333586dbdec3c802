import { Injectable } from '@nestjs/common';
import type { Period } from '../../core/time';
import type { Meter } from '../meters';

/** Customer, meter and current time that unbillable times are requested for. */
export interface UsageOf {
  readonly customerId: string;
  readonly meter: Meter;
  readonly now: Date;
}

/** Returns the periods whose events no bill will count; reads in the caller's transaction. */
export type UnbillableTime = (usage: UsageOf) => Promise<readonly Period[]>;

/** Hooks that return unbillable periods. The subscriptions module, one layer above, registers when it starts. */
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
