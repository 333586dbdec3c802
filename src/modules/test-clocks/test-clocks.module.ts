import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TestClockEntity } from './test-clock.entity';
import { TestClockRemovals } from './test-clock-removals';
import { TestClockWorks } from './test-clock-work';
import { TestClocksController } from './test-clocks.controller';
import { TestClocksRepository } from './test-clocks.repository';
import { TestClocksService } from './test-clocks.service';

@Module({
  imports: [TypeOrmModule.forFeature([TestClockEntity])],
  controllers: [TestClocksController],
  providers: [TestClocksRepository, TestClocksService, TestClockRemovals, TestClockWorks],
  exports: [TestClocksService, TestClockRemovals, TestClockWorks],
})
export class TestClocksModule {}
