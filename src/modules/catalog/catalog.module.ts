import { Module } from '@nestjs/common';
import { FeaturesModule } from '../features';
import { MetersModule } from '../meters';
import { AddonsController } from './addons.controller';
import { AddonsRepository } from './addons.repository';
import { CatalogService } from './catalog.service';
import { PlansController } from './plans.controller';
import { PlansRepository } from './plans.repository';
import { PlansService } from './plans.service';
import { PricesRepository } from './prices.repository';
import { ReferencesService } from './references.service';

@Module({
  imports: [FeaturesModule, MetersModule],
  controllers: [AddonsController, PlansController],
  providers: [
    AddonsRepository,
    CatalogService,
    PlansRepository,
    PlansService,
    PricesRepository,
    ReferencesService,
  ],
  exports: [CatalogService],
})
export class CatalogModule {}
