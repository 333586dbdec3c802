import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CouponsModule } from '../coupons';
import { CustomersModule } from '../customers';
import { LedgerModule } from '../ledger';
import { TestClocksModule } from '../test-clocks';
import { BillingFactsService } from './billing-facts.service';
import { CreditGrantEntity } from './credit-grant.entity';
import { CreditGrantsRepository } from './credit-grants.repository';
import { InvoiceBooks } from './invoice-books';
import { InvoiceDraftsService } from './invoice-drafts.service';
import { InvoiceLineEntity } from './invoice-line.entity';
import { InvoiceSeriesEntity } from './invoice-series.entity';
import { InvoiceEntity } from './invoice.entity';
import { InvoicesController } from './invoices.controller';
import { InvoicesRepository } from './invoices.repository';
import { InvoicesService } from './invoices.service';
import { IssueInvoiceService } from './issue-invoice.service';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      InvoiceEntity,
      InvoiceLineEntity,
      InvoiceSeriesEntity,
      CreditGrantEntity,
    ]),
    CouponsModule,
    CustomersModule,
    LedgerModule,
    TestClocksModule,
  ],
  controllers: [InvoicesController],
  providers: [
    InvoicesRepository,
    CreditGrantsRepository,
    BillingFactsService,
    InvoiceBooks,
    IssueInvoiceService,
    InvoiceDraftsService,
    InvoicesService,
  ],
  exports: [InvoiceBooks, IssueInvoiceService, InvoicesService],
})
export class InvoicingModule {}
