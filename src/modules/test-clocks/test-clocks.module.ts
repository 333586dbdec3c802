import { Module } from '@nestjs/common';
import { DeleteTestClockService } from './delete-test-clock.service';
import { DueQueues } from './due-queues';
import { DueRowsRepository } from './due-rows.repository';
import { TestClockParticipants } from './test-clock-participants';
import { TestClocksController } from './test-clocks.controller';
import { TestClocksRepository } from './test-clocks.repository';
import { TestClocksService } from './test-clocks.service';

@Module({
  controllers: [TestClocksController],
  providers: [
    DeleteTestClockService,
    DueQueues,
    DueRowsRepository,
    TestClocksRepository,
    TestClocksService,
    TestClockParticipants,
  ],
  exports: [DueQueues, TestClocksService, TestClockParticipants],
})
export class TestClocksModule {}
