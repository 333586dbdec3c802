import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog';
import { CouponsModule } from '../coupons';
import { CustomersModule } from '../customers';
import { LedgerModule } from '../ledger';
import { MeteringModule } from '../metering';
import { MetersModule } from '../meters';
import { TestClocksModule } from '../test-clocks';
import { BilledLinesRepository } from './billed-lines.repository';
import { BilledTogetherRepository } from './billed-together.repository';
import { BillingContextService } from './billing-context.service';
import { CouponContextsService } from './coupon-contexts.service';
import { CreditBalanceController } from './credit-balance.controller';
import { CreditBalanceService } from './credit-balance.service';
import { CreditGrantsRepository } from './credit-grants.repository';
import { CreditPayoutsRepository } from './credit-payouts.repository';
import { CreditNotesController } from './credit-notes.controller';
import { CreditNotesRepository } from './credit-notes.repository';
import { CreditNotesService } from './credit-notes.service';
import { EditInvoiceService } from './edit-invoice.service';
import { FinalizationService } from './finalization.service';
import { FinalizeInvoicesService } from './finalize-invoices.service';
import { InvoiceLedgerCheck } from './invoice-ledger-check';
import { InvoicePostings } from './invoice-postings';
import { InvoiceDraftsService } from './invoice-drafts.service';
import { DueInvoices } from './due-invoices';
import { DueInvoicesRepository } from './due-invoices.repository';
import { FirstBillsService } from './first-bills.service';
import { GivenBackService } from './given-back.service';
import { HeldByInvoiceRepository } from './held-by-invoice.repository';
import { InvoiceCollectionService } from './invoice-collection.service';
import { InvoiceSnapshotsRepository } from './invoice-snapshots.repository';
import { InvoicePaymentsService } from './invoice-payments.service';
import { InvoicePrinter } from './invoice-printer';
import { invoicingPurge } from './invoicing-purge';
import { InvoicesController } from './invoices.controller';
import { InvoicesRepository } from './invoices.repository';
import { InvoicesService } from './invoices.service';
import { IssueInvoiceService } from './issue-invoice.service';
import { RenewalDraftsRepository } from './renewal-drafts.repository';
import { RegenerateInvoiceService } from './regenerate-invoice.service';
import { InvoiceTextsService } from './invoice-texts.service';
import { PrintInvoiceService } from './print-invoice.service';
import { ChargedEventsService } from './charged-events.service';
import { LineUsageController } from './line-usage.controller';
import { LineUsageService } from './line-usage.service';
import { SharedTracesRepository } from './shared-traces.repository';
import { SimulatePricesService } from './simulate-prices.service';
import { SimulationRepository } from './simulation.repository';
import { UsageQuotesService } from './usage-quotes.service';
import { UsageReadingsService } from './usage-readings.service';
import { LowerOpenInvoicesService } from './lower-open-invoices.service';
import { VoidInvoiceService } from './void-invoice.service';

@Module({
  imports: [
    CatalogModule,
    CouponsModule,
    CustomersModule,
    LedgerModule,
    MeteringModule,
    MetersModule,
    TestClocksModule,
  ],
  controllers: [
    InvoicesController,
    CreditNotesController,
    CreditBalanceController,
    LineUsageController,
  ],
  providers: [
    invoicingPurge,
    InvoicesRepository,
    SharedTracesRepository,
    InvoiceSnapshotsRepository,
    BilledTogetherRepository,
    BilledLinesRepository,
    HeldByInvoiceRepository,
    CreditGrantsRepository,
    CreditPayoutsRepository,
    CreditBalanceService,
    CreditNotesRepository,
    LineUsageService,
    ChargedEventsService,
    UsageReadingsService,
    SimulationRepository,
    SimulatePricesService,
    UsageQuotesService,
    CouponContextsService,
    FirstBillsService,
    BillingContextService,
    InvoiceLedgerCheck,
    InvoicePostings,
    LowerOpenInvoicesService,
    FinalizationService,
    IssueInvoiceService,
    InvoiceDraftsService,
    RenewalDraftsRepository,
    FinalizeInvoicesService,
    GivenBackService,
    DueInvoicesRepository,
    DueInvoices,
    InvoiceCollectionService,
    InvoicePaymentsService,
    VoidInvoiceService,
    InvoicesService,
    EditInvoiceService,
    RegenerateInvoiceService,
    InvoicePrinter,
    InvoiceTextsService,
    PrintInvoiceService,
    CreditNotesService,
  ],
  exports: [
    BillingContextService,
    CreditBalanceService,
    CreditNotesService,
    DueInvoicesRepository,
    FinalizeInvoicesService,
    GivenBackService,
    InvoiceCollectionService,
    InvoicePaymentsService,
    IssueInvoiceService,
    InvoicesService,
    RegenerateInvoiceService,
    SimulatePricesService,
    UsageQuotesService,
    VoidInvoiceService,
  ],
})
export class InvoicingModule {}
