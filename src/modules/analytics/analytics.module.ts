import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers';
import { LedgerModule } from '../ledger';
import { RecurringRevenueModule } from '../recurring-revenue';
import { BooksController } from './books.controller';
import { BooksService } from './books.service';
import { CollectionRepository } from './collection.repository';
import { MrrController } from './mrr.controller';
import { MrrService } from './mrr.service';
import { ReceivablesLedgerCheck } from './receivables-ledger-check';
import { ReceivablesRepository } from './receivables.repository';
import { RevenueRepository } from './revenue.repository';

@Module({
  imports: [CustomersModule, LedgerModule, RecurringRevenueModule],
  controllers: [BooksController, MrrController],
  providers: [
    BooksService,
    CollectionRepository,
    MrrService,
    RevenueRepository,
    ReceivablesLedgerCheck,
    ReceivablesRepository,
  ],
})
export class AnalyticsModule {}
