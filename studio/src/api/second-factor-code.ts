import type { Schemas } from './client';

export const SECOND_FACTOR_HINT = 'Six digits, or a recovery code such as 3k7m-9xq2-w4tz-h8dv.';

const RECOVERY_CODE_LENGTH = 16;

/**
 * Returns the fields of a request for a typed code of the authenticator or a recovery code; null while it is neither,
 * because the service counts each wrong code as an attempt.
 */
export function secondFactorCode(typed: string): Schemas['SecondFactorCodeDto'] | null {
  // Apps show the digits in groups.
  const code = typed.replaceAll(/\s/g, '');
  if (/^\d{6}$/.test(code)) return { totp_code: code };
  const isComplete = code.replaceAll('-', '').length === RECOVERY_CODE_LENGTH;
  return isComplete ? { recovery_code: code } : null;
}
