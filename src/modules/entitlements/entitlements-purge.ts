import { LOCK_STREAMS } from '../metering';
import { purgeProvider } from '../test-clocks';

const TABLES_BEFORE_STREAMS = ['entitlement_grace', 'customer_access'];
const TABLES_WITH_EVENTS = ['entitlement_grant', 'customer_entitlement'];

const deleteFrom = (table: string): string => `DELETE FROM ${table} WHERE customer_id = ANY ($1)`;

/**
 * Deletes the entitlement data of customers when their test clock is deleted. Locks the usage streams before the
 * balances, because transactions that count usage lock them in this order.
 */
export const entitlementsPurge = purgeProvider('entitlements', [
  ...TABLES_BEFORE_STREAMS.map(deleteFrom),
  LOCK_STREAMS,
  deleteFrom('entitlement_consumption'),
  ...TABLES_WITH_EVENTS.map((table) => `${deleteFrom(table)} RETURNING id`),
]);
