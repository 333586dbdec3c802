import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditChangeEntity } from './audit-change.entity';
import { AuditLogController } from './audit-log.controller';
import { AuditLogEntity } from './audit-log.entity';
import { AuditLogRepository } from './audit-log.repository';
import { AuditLogService } from './audit-log.service';
import { AuditPartitions } from './audit-partitions';
import { AuditPartitionsRepository } from './audit-partitions.repository';
import { AuditSealEntity } from './audit-seal.entity';
import { AuditSealing } from './audit-sealing';
import { AuditUsageCountEntity } from './audit-usage-count.entity';
import { AuditUsageCounts } from './audit-usage-counts';
import { AuditUsageRepository } from './audit-usage.repository';
import { AuditVerificationService } from './audit-verification.service';
import { SealsRepository } from './seals.repository';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      AuditChangeEntity,
      AuditLogEntity,
      AuditSealEntity,
      AuditUsageCountEntity,
    ]),
  ],
  controllers: [AuditLogController],
  providers: [
    AuditLogRepository,
    AuditLogService,
    AuditPartitions,
    AuditPartitionsRepository,
    AuditSealing,
    AuditUsageCounts,
    AuditUsageRepository,
    AuditVerificationService,
    SealsRepository,
  ],
})
export class AuditModule {}
