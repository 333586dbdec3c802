export { AuditTrail, auditSql } from './audit-trail';
export { AuditTrailModule } from './audit.module';
export { auditedFields, type FieldChanges } from './audited-fields';
