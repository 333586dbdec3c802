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
    'The report is no success after a failure or cancellation, or its refund is recorded already. Settle it with the ' +
    'provider, e.g. by refunding the second charge there, and dismiss the discrepancy.',
  /** @param recordedId id of another refund with the reported id at the provider; null: there is none */
  occurrence: (
    { id, recordedStatus, reportedStatus }: Discrepancy,
    recordedId: string | null = null,
  ) => ({
    detail:
      recordedId === null
        ? `The discrepancy ${id} reports ${reportedStatus} after ${recordedStatus}, which cannot be applied. Settle it with the provider, then dismiss it.`
        : `The refund that the discrepancy ${id} reports is already recorded as ${recordedId}. Dismiss the discrepancy.`,
    extensions: { recorded_status: recordedStatus, reported_status: reportedStatus },
  }),
});
