/**
 * Runs all checks that need no database: `npm run check`. Each step is an npm script that can be run alone. All steps run
 * even when one fails, so that one run reports every fault.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const STEPS = [
  'format:check',
  'types',
  'lint',
  'structure',
  'language',
  'imports',
  'unused',
  'test:unit',
  'docs:check',
  'openapi:lint',
];

const results = STEPS.map((step) => {
  console.log(`\n> ${step}`);
  const startedAt = performance.now();
  const { status } = spawnSync('npm', ['run', '--silent', step], {
    cwd: resolve(import.meta.dirname, '..'),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  return { step, seconds, passed: status === 0 };
});

console.log('');
for (const { step, seconds, passed } of results) {
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${step.padEnd(14)} ${seconds.padStart(5)} s`);
}
process.exit(results.every(({ passed }) => passed) ? 0 : 1);
