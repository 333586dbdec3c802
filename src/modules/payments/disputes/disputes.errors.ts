import { defineNotFound, defineProblem } from '../../../platform/errors';

export const disputeNotFound = defineNotFound('dispute_not_found', 'a dispute');

export const paymentDisputed = defineProblem({
  code: 'payment_disputed',
  kind: 'conflict',
  isTemporary: true,
  title: 'The payment is disputed',
  meaning:
    'A dispute is open about the payment, about another payment of its invoice, or about a payment whose credit the invoice used. If it is lost, the refund or credit note would give the money back twice. Wait until it is decided, or accept it at the provider. During an inquiry you may refund or credit if the provider allows refunds.',
  detail: (id: string) =>
    `A dispute about the payment ${id} is open. Refund or credit its money once the dispute is won.`,
});
