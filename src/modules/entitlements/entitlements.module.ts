import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CatalogModule } from '../catalog';
import { CustomersModule } from '../customers';
import { FeaturesModule } from '../features';
import { MeteringModule } from '../metering';
import { MetersModule } from '../meters';
import { SubscriptionsModule } from '../subscriptions';
import { TestClocksModule } from '../test-clocks';
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
import { DeleteEntitlementService } from './delete-entitlement.service';
import { EntitlementsPurge } from './entitlements-purge';
import { EntitlementsController } from './entitlements.controller';
import { EntitlementWindows } from './entitlement-windows';
import { GrantsRepository } from './grants.repository';
import { GrantsService } from './grants.service';
import { BalanceWindowsRepository } from './balance-windows.repository';
import { BalancesRepository } from './balances.repository';
import { BalancesService } from './balances.service';
import { MeteredUsageService } from './metered-usage.service';
import { BalanceUsageService } from './balance-usage.service';
import { RecalculateBalanceService } from './recalculate-balance.service';
import { SourcesService } from './sources.service';
import { SubscriptionBalancesService } from './subscription-balances.service';
import { EntitlementUsageHooks } from './entitlement-usage-hooks';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      AddonEntitlementEntity,
      CustomerAccessEntity,
      CustomerEntitlementEntity,
      EntitlementGrantEntity,
      EntitlementGraceEntity,
      EntitlementConsumptionEntity,
    ]),
    CatalogModule,
    CustomersModule,
    FeaturesModule,
    MeteringModule,
    MetersModule,
    SubscriptionsModule,
    TestClocksModule,
  ],
  controllers: [
    EntitlementsController,
    AddonEntitlementsController,
    CustomerEntitlementsController,
  ],
  providers: [
    AddonEntitlementsRepository,
    AddonEntitlementsService,
    DeleteEntitlementService,
    BalancesRepository,
    GrantsRepository,
    SourcesService,
    BalanceWindowsRepository,
    MeteredUsageService,
    BalanceUsageService,
    RecalculateBalanceService,
    BalancesService,
    ConsumeService,
    GrantsService,
    SubscriptionBalancesService,
    EntitlementUsageHooks,
    EntitlementWindows,
    EntitlementsPurge,
  ],
  exports: [SubscriptionBalancesService],
})
export class EntitlementsModule {}
