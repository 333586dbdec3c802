import { defineNotFound, defineProblem } from '../../../platform/errors';

export const disputeNotFound = defineNotFound('dispute_not_found', 'a dispute');

export const paymentDisputed = defineProblem({
  code: 'payment_disputed',
  kind: 'conflict',
  title: 'The payment is disputed',
  meaning:
    'A dispute about the payment is open, and the provider would give the money back twice. Wait until the dispute is decided, or accept it at the provider. During an inquiry a refund is allowed if the provider allows it.',
  detail: (id: string) =>
    `A dispute about the payment ${id} is open. It can be refunded once the dispute is won.`,
});
