import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog';
import { CustomersModule } from '../customers';
import { FeaturesModule } from '../features';
import { MeteringModule } from '../metering';
import { MetersModule } from '../meters';
import { SubscriptionsModule } from '../subscriptions';
import { TestClocksModule } from '../test-clocks';
import { AddonEntitlementsController } from './addon-entitlements.controller';
import { AddonEntitlementsRepository } from './addon-entitlements.repository';
import { AddonEntitlementsService } from './addon-entitlements.service';
import { ConsumeBalanceService } from './consume-balance.service';
import { ConsumeService } from './consume.service';
import { ConsumeSharedService } from './consume-shared.service';
import { ConsumptionsRepository } from './consumptions.repository';
import { CustomerEntitlementsService } from './customer-entitlements.service';
import { CustomerEntitlementsController } from './customer-entitlements.controller';
import { DeleteEntitlementService } from './delete-entitlement.service';
import { entitlementsPurge } from './entitlements-purge';
import { EntitlementsController } from './entitlements.controller';
import { EntitlementWindows } from './entitlement-windows';
import { GrantsRepository } from './grants.repository';
import { GrantsService } from './grants.service';
import { BalanceWindowsRepository } from './balance-windows.repository';
import { BalancesRepository } from './balances.repository';
import { BalancesService } from './balances.service';
import { MeteredUsageService } from './metered-usage.service';
import { BalanceUsageService } from './balance-usage.service';
import { CountedUsageService } from './counted-usage.service';
import { RecalculateBalanceService } from './recalculate-balance.service';
import { RunningGrantsService } from './running-grants.service';
import { SharedConsumptionsRepository } from './shared-consumptions.repository';
import { SourcesService } from './sources.service';
import { SubscriptionBalancesService } from './subscription-balances.service';
import { EntitlementUsageHooks } from './entitlement-usage-hooks';

@Module({
  imports: [
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
    RunningGrantsService,
    SourcesService,
    BalanceWindowsRepository,
    MeteredUsageService,
    BalanceUsageService,
    CountedUsageService,
    RecalculateBalanceService,
    BalancesService,
    CustomerEntitlementsService,
    ConsumptionsRepository,
    SharedConsumptionsRepository,
    ConsumeBalanceService,
    ConsumeSharedService,
    ConsumeService,
    GrantsService,
    SubscriptionBalancesService,
    EntitlementUsageHooks,
    EntitlementWindows,
    entitlementsPurge,
  ],
  exports: [SubscriptionBalancesService],
})
export class EntitlementsModule {}
