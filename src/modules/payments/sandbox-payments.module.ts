import { Module } from '@nestjs/common';
import { PaymentsModule } from './payments.module';
import { SandboxPaymentsController } from './sandbox-payments.controller';

/** The routes that play the sandbox gateway. Imported only where the sandbox is switched on. */
@Module({ imports: [PaymentsModule], controllers: [SandboxPaymentsController] })
export class SandboxPaymentsModule {}
