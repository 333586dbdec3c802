import { data } from 'currency-codes';
import { invariant } from '../invariant';

/** Currencies of ISO 4217 (edition of 2026-01-01) that the package `currency-codes` lacks. */
const INTRODUCED: readonly (readonly [code: string, digits: number])[] = [['XCG', 2]];

/** Former currencies that `currency-codes` still lists. XCG replaced ANG in 2025, and the euro replaced BGN in 2026. */
const WITHDRAWN: ReadonlySet<string> = new Set(['ANG', 'BGN']);

/**
 * Number of digits after the decimal point, by currency code, including former currencies. Of the codes that start with
 * X, only the currencies that several countries share are included (XAF, XCD, XCG, XOF, XPF). The other X codes, such
 * as metals and the test code, have no minor unit in ISO 4217, but 0 digits in the package. The package lists at most
 * one country for each of them.
 */
export const digitsByCode: ReadonlyMap<string, number> = new Map([
  ...data
    .filter(({ code, countries }) => !code.startsWith('X') || countries.length > 1)
    .map(({ code, digits }) => [code, digits] as const),
  ...INTRODUCED,
]);

/**
 * Returns true if new objects can use `code`: a current ISO 4217 code in upper case with a minor unit. Includes funds
 * codes with a minor unit (CLF, UYI). Excludes former currencies, and codes such as XAU (gold), XDR (a unit of
 * account), XTS (test code) and XXX (no currency).
 */
export function isCurrency(code: string): boolean {
  return digitsByCode.has(code) && !WITHDRAWN.has(code);
}

/**
 * Returns the number of digits after the decimal point of an amount in major units: 2 for USD, 0 for JPY, 3 for KWD
 * (ISO 4217). Includes former currencies, so that amounts stored in them stay readable.
 * @throws InvariantError when `code` is not a currency. The caller must first check external input with
 *   {@link isCurrency}.
 */
export function minorDigits(code: string): number {
  const digits = digitsByCode.get(code);
  invariant(digits !== undefined, `${code} is not a currency`);
  return digits;
}
