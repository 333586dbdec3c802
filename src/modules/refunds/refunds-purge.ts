import { purgeProvider } from '../test-clocks';

export const refundsPurge = purgeProvider('refunds', [
  'DELETE FROM refund WHERE customer_id = ANY ($1) RETURNING id',
]);
