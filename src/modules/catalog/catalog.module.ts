import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { FeaturesModule } from '../features';
import { MetersModule } from '../meters';
import { AddonEntity } from './addon.entity';
import { AddonsController } from './addons.controller';
import { AddonsRepository } from './addons.repository';
import { CatalogService } from './catalog.service';
import { PlanEntitlementEntity } from './plan-entitlement.entity';
import { PlanVersionEntity } from './plan-version.entity';
import { PlanEntity } from './plan.entity';
import { PlansController } from './plans.controller';
import { PlansRepository } from './plans.repository';
import { PlansService } from './plans.service';
import { PriceEntity } from './price.entity';
import { PricesRepository } from './prices.repository';
import { ReferencesService } from './references.service';

@Module({
  imports: [
    FeaturesModule,
    MetersModule,
    TypeOrmModule.forFeature([
      AddonEntity,
      PlanEntitlementEntity,
      PlanEntity,
      PlanVersionEntity,
      PriceEntity,
    ]),
  ],
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
