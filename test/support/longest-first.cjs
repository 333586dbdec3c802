/**
 * Starts the slowest test files first, so that all workers end at about the same time.
 *
 * Jest sorts files by the times of the last run. A new clone has no such times; then Jest sorts by file size, although
 * a small file may take minutes.
 */
const { createRequire } = require('node:module');
const { relative, sep } = require('node:path');

// Resolves the copy that Jest itself uses.
const core = createRequire(require.resolve('jest')).resolve('@jest/core');
const { default: Sequencer } = createRequire(core)('@jest/test-sequencer');

/** Files that are slower than most, the slowest first. */
const LONG = [
  'test/scenarios/billing-model.e2e-spec.ts',
  'test/browser/console.browser-spec.ts',
  'test/scenarios/changes-add-up.e2e-spec.ts',
  'test/browser/console-tasks.browser-spec.ts',
  'test/e2e/usage-of-void-invoices.e2e-spec.ts',
  'test/scenarios/webhook-campaign.e2e-spec.ts',
  'test/e2e/key-rotation.e2e-spec.ts',
  'test/e2e/studio-command.e2e-spec.ts',
  'test/scenarios/renewal-kill.e2e-spec.ts',
  'test/platform/embedded-postgres.e2e-spec.ts',
  'test/scenarios/growth.e2e-spec.ts',
  'test/scenarios/request-fuzz.e2e-spec.ts',
  'test/scenarios/renewal-grace.e2e-spec.ts',
  'test/scenarios/refund-kill.e2e-spec.ts',
  'test/browser/console-access.browser-spec.ts',
  'test/browser/console-budgets.browser-spec.ts',
  'test/scenarios/connection-campaign.e2e-spec.ts',
  'test/platform/processes.e2e-spec.ts',
  'test/platform/migrations.e2e-spec.ts',
  'test/e2e/usage-readings.e2e-spec.ts',
  'test/platform/rolling-upgrade.e2e-spec.ts',
  'test/scenarios/archive-kill.e2e-spec.ts',
  'test/platform/documented-walks.e2e-spec.ts',
  'test/e2e/bodies-of-strangers.e2e-spec.ts',
  'test/platform/tracing.e2e-spec.ts',
  'test/e2e/sessions.e2e-spec.ts',
  'test/e2e/meter-totals.e2e-spec.ts',
  'test/e2e/reconciliations.e2e-spec.ts',
];

const rank = ({ path, context }) =>
  LONG.indexOf(relative(context.config.rootDir, path).replaceAll(sep, '/'));

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const long = sorted.filter((test) => rank(test) !== -1);
    return [
      ...long.sort((one, other) => rank(one) - rank(other)),
      ...sorted.filter((test) => rank(test) === -1),
    ];
  }
};
