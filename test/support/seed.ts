import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/** Seed of all random choices in a test file. `SEED` repeats a run; CI sets it, so that it is the same for every commit. */
export const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

fc.configureGlobal({ seed: SEED });
