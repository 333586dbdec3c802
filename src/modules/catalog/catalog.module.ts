import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AddonEntity } from './addon.entity';
import { AddonsController } from './addons.controller';
import { AddonsRepository } from './addons.repository';
import { CatalogService } from './catalog.service';
import { PlanEntitlementRules } from './plan-entitlement-rules';
import { PlanEntitlementEntity } from './plan-entitlement.entity';
import { PlanVersionEntity } from './plan-version.entity';
import { PlanEntity } from './plan.entity';
import { PlansController } from './plans.controller';
import { PlansRepository } from './plans.repository';
import { PlansService } from './plans.service';
import { PriceRules } from './price-rules';
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
    PlanEntitlementRules,
    PlansRepository,
    PlansService,
    PriceRules,
    PricesRepository,
  ],
  exports: [CatalogService, PlanEntitlementRules, PriceRules],
})
export class CatalogModule {}
