/**
 * The business modules by layer, the highest layer first. A module imports only modules of lower layers, through their
 * `index.ts`. The rules of `.dependency-cruiser.cjs` and the examples that break them are made from this list. The
 * check fails if a module is missing here.
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
  ['metering', 'coupons'],
  ['ledger', 'catalog'],
  ['customers'],
  ['features'],
  ['meters'],
  ['test-clocks', 'tax-rates'],
];

module.exports = { LAYERS };
