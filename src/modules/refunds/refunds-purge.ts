import { purgeProvider } from '../test-clocks';

export const refundsPurge = purgeProvider('refunds', [
  `DELETE FROM waiting_refund
   WHERE payment_id IN (SELECT id FROM payment WHERE customer_id = ANY ($1))`,
  'DELETE FROM refund WHERE customer_id = ANY ($1) RETURNING id',
]);
