import { data } from 'currency-codes';
import { invariant } from '../invariant';

/**
 * Currencies of ISO 4217 (edition of 2026-01-01) that the package `currency-codes` does not have yet, with their digits. XCG
 * replaced ANG in 2025.
 */
const INTRODUCED: readonly (readonly [code: string, digits: number])[] = [['XCG', 2]];

/** Currencies that left after that edition. ANG: replaced by XCG in 2025; BGN: by the euro on 2026-01-01. */
const WITHDRAWN: ReadonlySet<string> = new Set(['ANG', 'BGN']);

/**
 * ISO 4217 gives codes with a leading X to what no single country issues. Currencies among them are
 * shared by several countries (XAF, XCD, XOF, XPF); the rest is metals, bond units, units of
 * account of one institution, the test code and "no currency", for which the standard says "N.A."
 * where the minor unit would stand and the list stores 0. Those name one placeholder or institution
 * instead of countries.
 */
export const digitsByCode: ReadonlyMap<string, number> = new Map([
  ...data
    .filter(({ code, countries }) => !code.startsWith('X') || countries.length > 1)
    .map(({ code, digits }) => [code, digits] as const),
  ...INTRODUCED,
]);

/**
 * Returns true if new objects can use `code`: a current ISO 4217 code in upper case with a minor unit. Includes funds codes
 * with a minor unit (CLF, UYI). Excludes metals, units of account (XAU, XDR, XTS, XXX) and former currencies.
 */
export function isCurrency(code: string): boolean {
  return digitsByCode.has(code) && !WITHDRAWN.has(code);
}

/**
 * Returns the digits after the decimal point in major units of `code`: 2 for USD, 0 for JPY, 3 for KWD (ISO 4217). Also knows
 * former currencies, so that amounts stored in them stay readable.
 * @throws InvariantError when `code` is not a currency; check what comes from outside with {@link isCurrency} first.
 */
export function minorDigits(code: string): number {
  const digits = digitsByCode.get(code);
  invariant(digits !== undefined, `${code} is not a currency`);
  return digits;
}
