import { Module } from '@nestjs/common';
import { AnalyticsController } from './analytics.controller';
import { ReceivablesRepository } from './receivables.repository';
import { ReceivablesService } from './receivables.service';

@Module({
  controllers: [AnalyticsController],
  providers: [ReceivablesRepository, ReceivablesService],
})
export class AnalyticsModule {}
