export { BillingModule } from './billing.module';
export { SandboxPaymentsModule } from './payments/sandbox-payments.module';
