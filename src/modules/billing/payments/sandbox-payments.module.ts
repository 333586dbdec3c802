import { Module } from '@nestjs/common';
import { BillingModule } from '../billing.module';
import { SandboxPaymentsController } from './sandbox-payments.controller';

/** The routes that play the sandbox gateway. Imported only where the sandbox is switched on. */
@Module({ imports: [BillingModule], controllers: [SandboxPaymentsController] })
export class SandboxPaymentsModule {}
