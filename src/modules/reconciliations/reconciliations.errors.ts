import {
  defineNotFound,
  defineProblem,
  type ProblemError,
  validationFailed,
} from '../../platform/errors';

export const reconciliationNotFound = defineNotFound(
  'reconciliation_not_found',
  'a reconciliation',
);

export const reconciliationRunning = defineProblem({
  code: 'reconciliation_running',
  kind: 'conflict',
  title: 'Another reconciliation with the provider is running',
  meaning:
    'Only one reconciliation runs per provider. Wait until the reconciliation `reconciliation_id` has ended.',
  occurrence: (provider: string, id: string) => ({
    detail: `The reconciliation ${id} with ${provider} is still running. Wait until it has ended.`,
    extensions: { reconciliation_id: id },
  }),
});

/** Returns the error for a period whose start is not before its end. */
export const emptyReconciliationPeriod = (): ProblemError =>
  validationFailed([{ pointer: '/from', code: 'contradiction', message: 'must be before `to`' }]);
