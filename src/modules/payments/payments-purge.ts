import { purgeProvider } from '../test-clocks';

const OF_CUSTOMERS = 'WHERE customer_id = ANY ($1)';

export const paymentsPurge = purgeProvider('payments', [
  `DELETE FROM provider_customer ${OF_CUSTOMERS}`,
  `DELETE FROM provider_discrepancy
   WHERE payment_id IN (SELECT id FROM payment ${OF_CUSTOMERS}) RETURNING id`,
  `DELETE FROM dispute ${OF_CUSTOMERS} RETURNING id`,
  `DELETE FROM payment ${OF_CUSTOMERS} RETURNING id`,
  `DELETE FROM payment_method_setup ${OF_CUSTOMERS} RETURNING id`,
  `DELETE FROM payment_method ${OF_CUSTOMERS} RETURNING id`,
]);
