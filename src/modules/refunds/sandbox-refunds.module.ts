import { Module } from '@nestjs/common';
import { RefundsModule } from './refunds.module';
import { SandboxRefundsController } from './sandbox-refunds.controller';

/** The routes that play the sandbox gateway. Imported only where the sandbox is switched on. */
@Module({ imports: [RefundsModule], controllers: [SandboxRefundsController] })
export class SandboxRefundsModule {}
