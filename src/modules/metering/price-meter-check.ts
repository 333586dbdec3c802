import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PriceRules } from '../catalog';
import { MetersService } from './meters.service';

/** Lends the catalogue, which lies below, what it has to know of meters when a price names one. */
@Injectable()
export class PriceMeterCheck implements OnModuleInit {
  constructor(
    private readonly rules: PriceRules,
    private readonly meters: MetersService,
  ) {}

  onModuleInit(): void {
    this.rules.register(async (prices, pointer) => {
      for (const [index, { meterId }] of prices.entries()) {
        if (meterId !== null) {
          await this.meters.requireForReference(meterId, `${pointer}/${index}/meter_id`);
        }
      }
    });
  }
}
