import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule } from '../catalog';
import { CustomersModule } from '../customers';
import { MeteringModule } from '../metering';
import { SubscriptionsModule } from '../subscriptions';
import { TestClocksModule } from '../test-clocks';
import { AccessFollowers } from './access-followers';
import { AddonEntitlementEntity } from './addon-entitlement.entity';
import { AddonEntitlementsController } from './addon-entitlements.controller';
import { AddonEntitlementsRepository } from './addon-entitlements.repository';
import { AddonEntitlementsService } from './addon-entitlements.service';
import { ConsumeService } from './consume.service';
import { CustomerAccessEntity } from './customer-access.entity';
import { CustomerEntitlementEntity } from './customer-entitlement.entity';
import { CustomerEntitlementsController } from './customer-entitlements.controller';
import { EntitlementConsumptionEntity } from './entitlement-consumption.entity';
import { EntitlementGraceEntity } from './entitlement-grace.entity';
import { EntitlementGrantEntity } from './entitlement-grant.entity';
import { EntitlementEntity } from './entitlement.entity';
import { EntitlementsRemoval } from './entitlements-removal';
import { EntitlementsController } from './entitlements.controller';
import { EntitlementsRepository } from './entitlements.repository';
import { EntitlementsService } from './entitlements.service';
import { GrantsRepository } from './grants.repository';
import { GrantsService } from './grants.service';
import { HoldingsRepository } from './holdings.repository';
import { HoldingsService } from './holdings.service';
import { PlanEntitlementCheck } from './plan-entitlement-check';
import { SettleHoldingService } from './settle-holding.service';
import { SourcesService } from './sources.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      EntitlementEntity,
      AddonEntitlementEntity,
      CustomerAccessEntity,
      CustomerEntitlementEntity,
      EntitlementGrantEntity,
      EntitlementGraceEntity,
      EntitlementConsumptionEntity,
    ]),
    CatalogModule,
    CustomersModule,
    MeteringModule,
    SubscriptionsModule,
    TestClocksModule,
  ],
  controllers: [
    EntitlementsController,
    AddonEntitlementsController,
    CustomerEntitlementsController,
  ],
  providers: [
    PlanEntitlementCheck,
    EntitlementsRepository,
    EntitlementsService,
    AddonEntitlementsRepository,
    AddonEntitlementsService,
    HoldingsRepository,
    GrantsRepository,
    SourcesService,
    SettleHoldingService,
    HoldingsService,
    ConsumeService,
    GrantsService,
    AccessFollowers,
    EntitlementsRemoval,
  ],
})
export class EntitlementsModule {}
