import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AddonEntity } from './addon.entity';
import { AddonsController } from './addons.controller';
import { AddonsRepository } from './addons.repository';
import { CatalogService } from './catalog.service';
import { PlanEntitlementHooks } from './plan-entitlement-hooks';
import { PlanEntitlementEntity } from './plan-entitlement.entity';
import { PlanVersionEntity } from './plan-version.entity';
import { PlanEntity } from './plan.entity';
import { PlansController } from './plans.controller';
import { PlansRepository } from './plans.repository';
import { PlansService } from './plans.service';
import { PriceHooks } from './price-hooks';
import { PriceEntity } from './price.entity';
import { PricesRepository } from './prices.repository';

@Module({
  imports: [
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
    PlanEntitlementHooks,
    PlansRepository,
    PlansService,
    PriceHooks,
    PricesRepository,
  ],
  exports: [CatalogService, PlanEntitlementHooks, PriceHooks],
})
export class CatalogModule {}
