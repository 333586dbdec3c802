import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TestClocksModule } from '../test-clocks';
import { RefundsRemoval } from './refunds-removal';
import { LedgerModule } from '../ledger';
import { PaymentsModule } from '../payments';
import { DueRefunds } from './due-refunds';
import { RefundEntity } from './refund.entity';
import { RefundsController } from './refunds.controller';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';
import { SandboxRefundsController } from './sandbox-refunds.controller';

@Module({
  imports: [
    TypeOrmModule.forFeature([RefundEntity]),
    LedgerModule,
    PaymentsModule,
    TestClocksModule,
  ],
  controllers: [RefundsController, SandboxRefundsController],
  providers: [RefundsRemoval, DueRefunds, RefundsRepository, RefundsService],
})
export class RefundsModule {}
