import { defineProblem } from '../../../platform/errors';
import type { Discrepancy } from './domain/discrepancy';

type Obstacle =
  /** Id of the stored refund that already has the reported id at the provider. */
  | { readonly recordedId: string }
  /** Present status of the refund at the provider. */
  | { readonly presentStatus: 'failed' | 'canceled' };

function detailOf(
  { id, recordedStatus, reportedStatus, providerReference }: Discrepancy,
  obstacle: Obstacle | null,
): string {
  if (obstacle === null) {
    return `The discrepancy ${id} reports ${reportedStatus} after ${recordedStatus}, which cannot be applied. Settle it with the provider, then dismiss it.`;
  }
  return 'recordedId' in obstacle
    ? `The refund that the discrepancy ${id} reports is already recorded as ${obstacle.recordedId}. Dismiss the discrepancy.`
    : `The provider reports the refund ${providerReference} as ${obstacle.presentStatus} now. Dismiss the discrepancy ${id}.`;
}

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
    'The report is no success after a failure or cancellation, or its refund is recorded already or has failed since. Settle it with the ' +
    'provider, and dismiss the discrepancy.',
  /**
   * @param obstacle state of the refund that prevents applying; null: the report is not a success after a failure or
   *   cancellation
   */
  occurrence: (discrepancy: Discrepancy, obstacle: Obstacle | null = null) => ({
    detail: detailOf(discrepancy, obstacle),
    extensions: {
      recorded_status: discrepancy.recordedStatus,
      reported_status: discrepancy.reportedStatus,
    },
  }),
});
