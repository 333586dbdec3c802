import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DueQueues } from './due-queues';
import { TestClockEntity } from './test-clock.entity';
import { TestClockParticipants } from './test-clock-participants';
import { TestClocksController } from './test-clocks.controller';
import { TestClocksRepository } from './test-clocks.repository';
import { TestClocksService } from './test-clocks.service';

@Module({
  imports: [TypeOrmModule.forFeature([TestClockEntity])],
  controllers: [TestClocksController],
  providers: [DueQueues, TestClocksRepository, TestClocksService, TestClockParticipants],
  exports: [DueQueues, TestClocksService, TestClockParticipants],
})
export class TestClocksModule {}
