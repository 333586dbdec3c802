import { Module } from '@nestjs/common';
import { RefundsModule } from './refunds.module';
import { SandboxRefundsController } from './sandbox-refunds.controller';

/** Routes that settle pending refunds of the sandbox. Imported only if the sandbox is switched on. */
@Module({ imports: [RefundsModule], controllers: [SandboxRefundsController] })
export class SandboxRefundsModule {}
