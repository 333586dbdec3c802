import { defineProblem } from '../../platform/errors';

export const auditEntryNotFound = defineProblem({
  code: 'audit_entry_not_found',
  kind: 'not_found',
  title: 'The audit log entry does not exist',
  meaning: 'No entry of the audit log has this id.',
  detail: (id: string) => `The audit log entry ${id} does not exist.`,
});
