import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/**
 * Seed of all random choices in a test file. The environment variable `SEED` repeats a run. CI sets it, so that all
 * runs of a commit use the same seed.
 */
export const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

fc.configureGlobal({ seed: SEED });
