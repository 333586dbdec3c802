import { defineProblem } from '../../platform/errors';

export const refundNotFound = defineProblem(
  {
    code: 'refund_not_found',
    kind: 'not_found',
    title: 'There is no such refund',
    meaning: 'The id in the path is not the id of a refund.',
  },
  (id: string) => ({ detail: `There is no refund ${JSON.stringify(id)}.` }),
);

export const refundNotInSandbox = defineProblem(
  {
    code: 'refund_not_in_sandbox',
    kind: 'conflict',
    title: 'The sandbox does not wait for this refund',
    meaning:
      'Only a refund that the sandbox provider has taken and not yet settled can be settled.',
  },
  (id: string) => ({ detail: `The sandbox has nothing pending for ${id}.` }),
);
