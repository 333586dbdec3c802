export { AuditModule } from './audit.module';
export { AuditUsageCounts } from './audit-usage-counts';
