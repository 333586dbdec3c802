import { Secret, TOTP } from 'otpauth';

/** RFC 6238 with the parameters that all authenticator apps support. */
const TOTP_PARAMETERS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** RFC 4226 recommends 160 bits. */
const SECRET_BYTES = 20;
/** Number of earlier and of later time steps for which codes are accepted: clocks differ, and people type slowly. */
const STEPS_AROUND = 1;

/** Returns a new secret in base 32. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the URI that authenticator apps read from a QR code. */
export function otpauthUri(secret: string, account: string, issuer: string): string {
  return new TOTP({ ...TOTP_PARAMETERS, secret, label: account, issuer }).toString();
}

/** Returns the time step of a code, or null if the code is not accepted at this instant. */
export function stepOfCode(secret: string, code: string, at: Date): number | null {
  // The library throws an error for characters that are not digits.
  if (!/^\d{6}$/.test(code)) return null;
  const totp = new TOTP({ ...TOTP_PARAMETERS, secret });
  const timestamp = at.getTime();
  const offset = totp.validate({ token: code, timestamp, window: STEPS_AROUND });
  return offset === null ? null : totp.counter({ timestamp }) + offset;
}
