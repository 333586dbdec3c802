import { type DynamicModule, Module } from '@nestjs/common';
import { AuditTrailModule } from './platform/audit';
import { ClockModule } from './platform/clock';
import { type Configuration, ConfigurationModule } from './platform/config';
import { DatabaseModule } from './platform/database';
import { IdempotencyModule } from './platform/idempotency';
import { JobsModule } from './platform/jobs';
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

/** The whole application, for `main.ts` and the tests. */
@Module({})
export class AppModule {
  /** @param databaseUrl URL of the configured database or of the embedded server */
  static with(configuration: Configuration, databaseUrl: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigurationModule.with(configuration),
        ClockModule,
        DatabaseModule.connect(databaseUrl),
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
}
