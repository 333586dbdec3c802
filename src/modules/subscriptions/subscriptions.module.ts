import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog';
import { CustomersModule } from '../customers';
import { LedgerModule } from '../ledger';
import { MeteringModule } from '../metering';
import { TestClocksModule } from '../test-clocks';
import { EditSubscriptionService } from './edit-subscription.service';
import { OffersService } from './offers.service';
import { BillableSpansRepository } from './billable-spans.repository';
import { UnbillableUsageService } from './unbillable-usage.service';
import { StartSubscriptionService } from './start-subscription.service';
import { SubscriptionCommandsService } from './subscription-commands.service';
import { SubscriptionPeriodsService } from './subscription-periods.service';
import { SubscriptionsController } from './subscriptions.controller';
import { SubscriptionLedgerCheck } from './subscription-ledger-check';
import { subscriptionsPurge } from './subscriptions-purge';
import { SubscriptionsRepository } from './subscriptions.repository';
import { SubscriptionsService } from './subscriptions.service';

@Module({
  imports: [CatalogModule, CustomersModule, LedgerModule, MeteringModule, TestClocksModule],
  controllers: [SubscriptionsController],
  providers: [
    subscriptionsPurge,
    SubscriptionLedgerCheck,
    SubscriptionsRepository,
    BillableSpansRepository,
    UnbillableUsageService,
    OffersService,
    StartSubscriptionService,
    SubscriptionCommandsService,
    SubscriptionPeriodsService,
    EditSubscriptionService,
    SubscriptionsService,
  ],
  exports: [
    UnbillableUsageService,
    StartSubscriptionService,
    SubscriptionCommandsService,
    SubscriptionPeriodsService,
    SubscriptionsRepository,
    SubscriptionsService,
  ],
})
export class SubscriptionsModule {}
