import { defineNotFound, defineProblem } from '../../platform/errors';

export const reconciliationNotFound = defineNotFound(
  'reconciliation_not_found',
  'a reconciliation',
);

export const reconciliationRunning = defineProblem({
  code: 'reconciliation_running',
  kind: 'conflict',
  isTemporary: true,
  title: 'Another reconciliation with the provider is running',
  meaning:
    'Only one reconciliation runs per provider. Wait until the reconciliation `reconciliation_id` has ended.',
  occurrence: (provider: string, id: string) => ({
    detail: `The reconciliation ${id} with ${provider} is still running. Wait until it has ended.`,
    extensions: { reconciliation_id: id },
  }),
});
