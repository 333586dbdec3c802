import { type DynamicModule, Module } from '@nestjs/common';
import { ClockModule } from './platform/clock';
import { type Configuration, ConfigurationModule } from './platform/config';
import { DatabaseModule } from './platform/database';
import { IdempotencyModule } from './platform/idempotency';
import { JobsModule } from './platform/jobs';
import { ObservabilityModule } from './platform/observability';
import { OutboundModule } from './platform/outbound';
import { OutboxModule } from './platform/outbox';
import { SecretsModule } from './platform/secrets';
import { CatalogModule } from './modules/catalog';
import { CouponsModule } from './modules/coupons';
import { CustomersModule } from './modules/customers';
import { EntitlementsModule } from './modules/entitlements';
import { InvoicingModule } from './modules/invoicing';
import { LedgerModule } from './modules/ledger';
import { MeteringModule } from './modules/metering';
import { PaymentsModule } from './modules/payments';
import { RefundsModule } from './modules/refunds';
import { StudioModule } from './modules/studio';
import { SubscriptionsModule } from './modules/subscriptions';
import { TaxRatesModule } from './modules/tax-rates';
import { TestClocksModule } from './modules/test-clocks';
import { WebhooksModule } from './modules/webhooks';

/** The whole engine. `main.ts` and the tests start the same one. */
@Module({})
export class AppModule {
  /** @param databaseUrl the database to use: the configured one, or the embedded server's */
  static with(configuration: Configuration, databaseUrl: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigurationModule.with(configuration),
        ClockModule,
        DatabaseModule.connect(databaseUrl),
        SecretsModule,
        JobsModule,
        OutboundModule,
        OutboxModule,
        IdempotencyModule,
        ObservabilityModule,
        // The routes of the first are found first, and nothing is asked as often as these two.
        MeteringModule,
        EntitlementsModule,
        CouponsModule,
        CustomersModule,
        CatalogModule,
        InvoicingModule,
        LedgerModule,
        PaymentsModule,
        RefundsModule,
        StudioModule,
        SubscriptionsModule,
        TaxRatesModule,
        TestClocksModule,
        WebhooksModule,
      ],
    };
  }
}
