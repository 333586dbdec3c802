import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SubscriptionsPurge } from './subscriptions-purge';
import { CatalogModule } from '../catalog';
import { CouponsModule } from '../coupons';
import { CustomersModule } from '../customers';
import { InvoicingModule } from '../invoicing';
import { MeteringModule } from '../metering';
import { TestClocksModule } from '../test-clocks';
import { CreateSubscriptionService } from './create-subscription.service';
import { EditSubscriptionService } from './edit-subscription.service';
import { FirstPaymentsService } from './first-payments.service';
import { CustomerUsageController } from './customer-usage.controller';
import { CustomerUsageService } from './customer-usage.service';
import { DueDrafts } from './due-drafts';
import { DueDraftsService } from './due-drafts.service';
import { DueLateUsage } from './due-late-usage';
import { DueLateUsageService } from './due-late-usage.service';
import { DueSubscriptions } from './due-subscriptions';
import { DueSubscriptionsService } from './due-subscriptions.service';
import { InvoiceReissuesController } from './invoice-reissues.controller';
import { OffersService } from './offers.service';
import { ReissuesService } from './reissues.service';
import { ScheduledChangeEntity } from './scheduled-change.entity';
import { SoldUsageRepository } from './sold-usage.repository';
import { SubscriptionItemEntity } from './subscription-item.entity';
import { SubscriptionOutcomesService } from './subscription-outcomes.service';
import { SubscriptionPeriodEntity } from './subscription-period.entity';
import { SubscriptionWatchers } from './subscription-watchers';
import { SubscriptionEntity } from './subscription.entity';
import { SubscriptionStandingService } from './subscription-standing.service';
import { SubscriptionsController } from './subscriptions.controller';
import { SubscriptionsRepository } from './subscriptions.repository';
import { SubscriptionsService } from './subscriptions.service';
import { UnbillableUsageService } from './unbillable-usage.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      SubscriptionEntity,
      SubscriptionItemEntity,
      SubscriptionPeriodEntity,
      ScheduledChangeEntity,
    ]),
    CatalogModule,
    CouponsModule,
    CustomersModule,
    InvoicingModule,
    MeteringModule,
    TestClocksModule,
  ],
  controllers: [CustomerUsageController, SubscriptionsController, InvoiceReissuesController],
  providers: [
    SubscriptionsPurge,
    SubscriptionsRepository,
    SoldUsageRepository,
    UnbillableUsageService,
    SubscriptionWatchers,
    OffersService,
    SubscriptionOutcomesService,
    SubscriptionStandingService,
    FirstPaymentsService,
    DueSubscriptionsService,
    DueSubscriptions,
    DueDraftsService,
    DueDrafts,
    DueLateUsageService,
    DueLateUsage,
    CreateSubscriptionService,
    EditSubscriptionService,
    ReissuesService,
    CustomerUsageService,
    SubscriptionsService,
  ],
  exports: [
    FirstPaymentsService,
    SubscriptionStandingService,
    SubscriptionsService,
    SubscriptionWatchers,
  ],
})
export class SubscriptionsModule {}
