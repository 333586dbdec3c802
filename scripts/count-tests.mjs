/**
 * Prints `N passed, N failed` from the results that Jest wrote as JSON: `node scripts/count-tests.mjs <file>`. Counts a
 * test file that could not be run, and a run without results, as failed.
 */
import { readFileSync } from 'node:fs';

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 1 };
  }
}

const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = read(process.argv[2]);
console.log(`${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed`);
