import { defineProblem } from '../../../platform/errors';
import type { Discrepancy } from './domain/discrepancy';

export const discrepancyNotFound = defineProblem({
  code: 'provider_discrepancy_not_found',
  kind: 'not_found',
  title: 'There is no such discrepancy',
  meaning: 'The id in the path is not the id of a provider discrepancy.',
  detail: (id: string) => `There is no provider discrepancy ${JSON.stringify(id)}.`,
});

export const discrepancyNotApplicable = defineProblem({
  code: 'provider_discrepancy_not_applicable',
  kind: 'conflict',
  title: 'The report cannot be applied',
  meaning:
    'Only a success reported after a failure or cancellation can be applied. Settle everything else with the provider, ' +
    'e.g. by refunding the second charge there, and dismiss the discrepancy.',
  occurrence: ({ id, recordedStatus, reportedStatus }: Discrepancy) => ({
    detail: `The discrepancy ${id} reports ${reportedStatus} after ${recordedStatus}, which cannot be applied. Settle it with the provider, then dismiss it.`,
    extensions: { recorded_status: recordedStatus, reported_status: reportedStatus },
  }),
});
