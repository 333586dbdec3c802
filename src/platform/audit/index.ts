export { AuditTrail, auditSql } from './audit-trail';
export { AuditTrailModule } from './audit.module';
export { auditedFields } from './audited-fields';
