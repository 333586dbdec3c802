import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Period } from '../../core/time';
import { UnbillableTimes, type UsageOf } from '../metering';
import { type Holding, unbillableTimes } from './domain/unbillable';
import { SoldUsageRepository } from './sold-usage.repository';

/** Tells metering which usage no subscription bills. */
@Injectable()
export class UnbillableUsageService implements OnModuleInit {
  constructor(
    private readonly times: UnbillableTimes,
    private readonly soldUsage: SoldUsageRepository,
  ) {}

  onModuleInit(): void {
    this.times.register((usage) => this.timesOf(usage));
  }

  private async timesOf({ customerId, meter, now }: UsageOf): Promise<readonly Period[]> {
    const subscribed = await this.soldUsage.subscribed(customerId);
    const sold = await this.soldUsage.sold(customerId, meter.id);
    return unbillableTimes(subscribed, sold, holdingOf(meter), now);
  }
}

function holdingOf({ aggregation, isRecurring }: UsageOf['meter']): Holding {
  if (aggregation !== 'weighted_sum') return 'none';
  return isRecurring ? 'for_ever' : 'period';
}
