import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/** Seed of all random choices in a test file. Set `SEED` to repeat a run. In CI, all runs use the same seed. */
export const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

fc.configureGlobal({ seed: SEED });
