import { defineProblem } from '../../platform/errors';

export const reportPeriodEmpty = defineProblem({
  code: 'report_period_empty',
  kind: 'rule_broken',
  title: 'The period of the report has no length',
  meaning: '`to` is exclusive and must be after `from`. Without `to`, the period ends now.',
  occurrence: () => ({
    detail: '`to` must be after `from`.',
    errors: [{ pointer: '/to', code: 'report_period_empty', message: 'must be after from' }],
  }),
});
