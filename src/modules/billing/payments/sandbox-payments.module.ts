import { Module } from '@nestjs/common';
import { BillingModule } from '../billing.module';
import { SandboxPaymentsController } from './sandbox-payments.controller';

/** Routes that settle pending payments of the sandbox. The module is imported only if the sandbox is switched on. */
@Module({ imports: [BillingModule], controllers: [SandboxPaymentsController] })
export class SandboxPaymentsModule {}
