import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog';
import { CouponsModule } from '../coupons';
import { LedgerModule } from '../ledger';
import { SubscriptionsModule } from '../subscriptions';
import { MrrChangesRepository } from './mrr-changes.repository';
import { MrrLedgerCheck } from './mrr-ledger-check';
import { RecurringRevenueService } from './recurring-revenue.service';

@Module({
  imports: [CatalogModule, CouponsModule, LedgerModule, SubscriptionsModule],
  providers: [MrrChangesRepository, MrrLedgerCheck, RecurringRevenueService],
  exports: [RecurringRevenueService],
})
export class RecurringRevenueModule {}
