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
import { EntitlementWindows } from './entitlement-windows';
import { GrantsRepository } from './grants.repository';
import { GrantsService } from './grants.service';
import { HoldingWindowsRepository } from './holding-windows.repository';
import { HoldingsRepository } from './holdings.repository';
import { HoldingsService } from './holdings.service';
import { MeteredUsageService } from './metered-usage.service';
import { PlanEntitlementCheck } from './plan-entitlement-check';
import { ReachedService } from './reached.service';
import { SettleHoldingService } from './settle-holding.service';
import { SourcesService } from './sources.service';
import { UsageFollowers } from './usage-followers';

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
    HoldingWindowsRepository,
    MeteredUsageService,
    ReachedService,
    SettleHoldingService,
    HoldingsService,
    ConsumeService,
    GrantsService,
    AccessFollowers,
    UsageFollowers,
    EntitlementWindows,
    EntitlementsRemoval,
  ],
})
export class EntitlementsModule {}
