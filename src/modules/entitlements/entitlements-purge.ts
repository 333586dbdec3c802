import { purgeProvider } from '../test-clocks';

const TABLES_WITHOUT_EVENTS = ['entitlement_consumption', 'entitlement_grace', 'customer_access'];
const TABLES_WITH_EVENTS = ['entitlement_grant', 'customer_entitlement'];

const deleteFrom = (table: string): string => `DELETE FROM ${table} WHERE customer_id = ANY ($1)`;

export const entitlementsPurge = purgeProvider('entitlements', [
  ...TABLES_WITHOUT_EVENTS.map(deleteFrom),
  ...TABLES_WITH_EVENTS.map((table) => `${deleteFrom(table)} RETURNING id`),
]);
