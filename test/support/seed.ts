import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/** Where everything random in a test file begins. `SEED` repeats a run; CI takes it from the commit. */
export const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

fc.configureGlobal({ seed: SEED });
