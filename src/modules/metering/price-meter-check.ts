import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type PriceFault, PriceHooks, type PriceTerms } from '../catalog';
import type { Meter } from './domain/meter';
import { MetersService } from './meters.service';

/** Lends the catalogue, which lies below, what it has to know of meters when a price names one. */
@Injectable()
export class PriceMeterCheck implements OnModuleInit {
  constructor(
    private readonly hooks: PriceHooks,
    private readonly meters: MetersService,
  ) {}

  onModuleInit(): void {
    this.hooks.register(async (prices, pointer) => {
      const faults: PriceFault[] = [];
      for (const [index, price] of prices.entries()) {
        if (price.meterId === null) continue;
        const place = `${pointer}/${index}`;
        const meter = await this.meters.requireForReference(price.meterId, `${place}/meter_id`);
        faults.push(...faultsOf(price, meter, place));
      }
      return faults;
    });
  }
}

/** A percentage is one of the amounts that a meter adds up; groups are those of the meter. */
function faultsOf(
  { model, isByGroup }: PriceTerms,
  { aggregation, groupBy }: Meter,
  place: string,
): readonly PriceFault[] {
  const faults: PriceFault[] = [];
  if (model === 'percentage' && aggregation !== 'sum') {
    faults.push({ pointer: `${place}/meter_id`, message: 'must be a meter of the kind sum' });
  }
  if (isByGroup && groupBy.length === 0) {
    faults.push({ pointer: `${place}/by_group`, message: 'is for a meter with group_by' });
  }
  return faults;
}
