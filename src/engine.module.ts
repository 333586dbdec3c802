import { type DynamicModule, Module, type NestModule } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { configureHttp } from './configure-http';
import { HttpApplication, REQUEST_LOGGER } from './http-application';
import { AuditTrailModule } from './platform/audit';
import { ClockModule } from './platform/clock';
import { type Configuration, ConfigurationModule } from './platform/config';
import { DatabaseModule, type DatabaseSource } from './platform/database';
import { createValidationPipe, ProblemFilter } from './platform/http';
import { IdempotencyModule } from './platform/idempotency';
import { JobsModule } from './platform/jobs';
import { createLogger } from './platform/logging';
import { ObservabilityModule } from './platform/observability';
import { OutboundModule } from './platform/outbound';
import { OutboxModule } from './platform/outbox';
import { ProcessesModule } from './platform/processes';
import { RateLimitsModule } from './platform/rate-limits';
import { SecretsModule } from './platform/secrets';
import { AccessModule } from './modules/access';
import { AnalyticsModule } from './modules/analytics';
import { AuditModule } from './modules/audit';
import { BillingModule, SandboxPaymentsModule } from './modules/billing';
import { CatalogModule } from './modules/catalog';
import { CouponsModule } from './modules/coupons';
import { CustomersModule } from './modules/customers';
import { EntitlementsModule } from './modules/entitlements';
import { FeaturesModule } from './modules/features';
import { InvoicingModule } from './modules/invoicing';
import { LedgerModule } from './modules/ledger';
import { MeteringModule } from './modules/metering';
import { MetersModule } from './modules/meters';
import { PaymentsModule } from './modules/payments';
import { ReconciliationsModule } from './modules/reconciliations';
import { RecurringRevenueModule } from './modules/recurring-revenue';
import { RefundsModule, SandboxRefundsModule } from './modules/refunds';
import { SearchModule } from './modules/search';
import { SessionsModule } from './modules/sessions';
import { StudioModule } from './modules/studio';
import { SubscriptionsModule } from './modules/subscriptions';
import { TaxRatesModule } from './modules/tax-rates';
import { TestClocksModule } from './modules/test-clocks';
import { WebhooksModule } from './modules/webhooks';

/** The whole service: all modules, and everything that a request passes between the socket and the controllers. */
@Module({
  providers: [
    { provide: APP_PIPE, useFactory: createValidationPipe },
    { provide: APP_FILTER, useClass: ProblemFilter },
    HttpApplication,
  ],
})
export class EngineModule implements NestModule {
  constructor(private readonly http: HttpApplication) {}

  /**
   * @param database URL of the database, or a source that opens a database
   * @param logger logs requests; default: a logger that writes lines to the standard output
   */
  static with(
    configuration: Configuration,
    database: string | DatabaseSource,
    logger = createLogger(configuration.logLevel),
  ): DynamicModule {
    return {
      module: EngineModule,
      providers: [{ provide: REQUEST_LOGGER, useValue: logger }],
      imports: [
        ConfigurationModule.with(configuration),
        ClockModule,
        DatabaseModule.connect(database),
        SecretsModule,
        JobsModule,
        ProcessesModule,
        OutboundModule,
        AuditTrailModule,
        OutboxModule,
        IdempotencyModule,
        ObservabilityModule,
        RateLimitsModule,
        // Routes are matched in this order. The modules with the most requests (metering, entitlements) come first,
        // each after the module whose routes it extends.
        MetersModule,
        MeteringModule,
        FeaturesModule,
        EntitlementsModule,
        AccessModule,
        AnalyticsModule,
        AuditModule,
        BillingModule,
        CouponsModule,
        CustomersModule,
        CatalogModule,
        InvoicingModule,
        LedgerModule,
        PaymentsModule,
        ReconciliationsModule,
        RecurringRevenueModule,
        RefundsModule,
        SearchModule,
        SessionsModule,
        StudioModule,
        SubscriptionsModule,
        TaxRatesModule,
        TestClocksModule,
        WebhooksModule,
        ...(configuration.paymentProviders.includes('sandbox')
          ? [SandboxPaymentsModule, SandboxRefundsModule]
          : []),
      ],
    };
  }
  /** Nest calls this before it registers the routes, and only in an application that answers HTTP. */
  configure(): void {
    configureHttp(this.http);
  }
}
