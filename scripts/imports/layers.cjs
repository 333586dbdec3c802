/**
 * The business modules by layer, high to low. A module imports only modules of lower layers, through their `index.ts`. The
 * rules of `.dependency-cruiser.cjs` and their negative controls are made from this list. A module that is missing here
 * fails the check.
 */
const LAYERS = [
  ['access', 'analytics', 'audit', 'search', 'webhooks'],
  ['sessions'],
  ['studio'],
  ['billing'],
  ['reconciliations'],
  ['refunds'],
  ['payments', 'entitlements', 'recurring-revenue'],
  ['subscriptions', 'invoicing'],
  ['metering'],
  ['ledger', 'catalog', 'coupons'],
  ['customers'],
  ['features'],
  ['meters'],
  ['test-clocks', 'tax-rates'],
];

module.exports = { LAYERS };
