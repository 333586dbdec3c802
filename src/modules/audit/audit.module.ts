import { Module } from '@nestjs/common';
import { AuditChain } from './audit-chain';
import { AuditDropsRepository } from './audit-drops.repository';
import { AuditLogController } from './audit-log.controller';
import { AuditLogRepository } from './audit-log.repository';
import { AuditLogService } from './audit-log.service';
import { AuditPartitions } from './audit-partitions';
import { AuditRetention } from './audit-retention';
import { AuditSealing } from './audit-sealing';
import { AuditUsageCounts } from './audit-usage-counts';
import { AuditUsageRepository } from './audit-usage.repository';
import { AuditVerificationService } from './audit-verification.service';
import { SealsRepository } from './seals.repository';

@Module({
  controllers: [AuditLogController],
  providers: [
    AuditChain,
    AuditDropsRepository,
    AuditLogRepository,
    AuditLogService,
    AuditPartitions,
    AuditRetention,
    AuditSealing,
    AuditUsageCounts,
    AuditUsageRepository,
    AuditVerificationService,
    SealsRepository,
  ],
})
export class AuditModule {}
