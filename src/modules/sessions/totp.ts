import { Secret, TOTP } from 'otpauth';

/** Parameters of TOTP (RFC 6238) that all authenticator apps support. */
const TOTP_PARAMETERS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Length of a secret: the 160 bits that RFC 4226 recommends. */
const SECRET_BYTES = 20;
/**
 * Codes of this many time steps before and after the current one are also accepted, because clocks differ and people
 * type slowly.
 */
const STEPS_AROUND = 1;

/** Returns a new secret in base 32. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

export function otpauthUri(secret: string, account: string, issuer: string): string {
  return new TOTP({ ...TOTP_PARAMETERS, secret, label: account, issuer }).toString();
}

/**
 * Returns the time step of a code, as the number of 30-second steps since 1970. The code must belong to the step at
 * `at`, or to the step before or after it; otherwise returns null.
 */
export function stepOfCode(secret: string, code: string, at: Date): number | null {
  // The library throws an error for characters that are not digits.
  if (!/^\d{6}$/.test(code)) return null;
  const totp = new TOTP({ ...TOTP_PARAMETERS, secret });
  const timestamp = at.getTime();
  const offset = totp.validate({ token: code, timestamp, window: STEPS_AROUND });
  return offset === null ? null : totp.counter({ timestamp }) + offset;
}
