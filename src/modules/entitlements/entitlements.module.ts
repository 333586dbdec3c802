import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule } from '../catalog';
import { MeteringModule } from '../metering';
import { AddonEntitlementEntity } from './addon-entitlement.entity';
import { AddonEntitlementsController } from './addon-entitlements.controller';
import { AddonEntitlementsRepository } from './addon-entitlements.repository';
import { AddonEntitlementsService } from './addon-entitlements.service';
import { EntitlementEntity } from './entitlement.entity';
import { EntitlementsController } from './entitlements.controller';
import { EntitlementsRepository } from './entitlements.repository';
import { EntitlementsService } from './entitlements.service';
import { PlanEntitlementCheck } from './plan-entitlement-check';

@Module({
  imports: [
    TypeOrmModule.forFeature([EntitlementEntity, AddonEntitlementEntity]),
    CatalogModule,
    MeteringModule,
  ],
  controllers: [EntitlementsController, AddonEntitlementsController],
  providers: [
    PlanEntitlementCheck,
    EntitlementsRepository,
    EntitlementsService,
    AddonEntitlementsRepository,
    AddonEntitlementsService,
  ],
})
export class EntitlementsModule {}
