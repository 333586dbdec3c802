import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TestClockEntity } from './test-clock.entity';
import { TestClockPurges } from './test-clock-purges';
import { TestClockJobs } from './test-clock-jobs';
import { TestClocksController } from './test-clocks.controller';
import { TestClocksRepository } from './test-clocks.repository';
import { TestClocksService } from './test-clocks.service';

@Module({
  imports: [TypeOrmModule.forFeature([TestClockEntity])],
  controllers: [TestClocksController],
  providers: [TestClocksRepository, TestClocksService, TestClockPurges, TestClockJobs],
  exports: [TestClocksService, TestClockPurges, TestClockJobs],
})
export class TestClocksModule {}
