import { purgeProvider } from '../test-clocks';

const PARTS = ['subscription_item', 'subscription_period', 'scheduled_change'];

export const subscriptionsPurge = purgeProvider('subscriptions', [
  ...PARTS.map(
    (table) => `
      DELETE FROM ${table}
      WHERE subscription_id IN (SELECT id FROM subscription WHERE customer_id = ANY ($1))`,
  ),
  'DELETE FROM subscription WHERE customer_id = ANY ($1) RETURNING id',
]);
