import { nextVersion } from '../../../core/next-version';

/**
 * Second factor of an admin: an authenticator app that shows time-based one-time passwords (TOTP), and recovery codes
 * for use when the device with the app is lost.
 */
export interface SecondFactor {
  readonly id: string;
  readonly version: number;
  readonly adminId: string;
  /** Secret that is shared with the admin's authenticator app, encrypted. */
  readonly sealedSecret: string;
  /**
   * Time step (of 30 seconds) of the last accepted TOTP code; null if none was accepted yet. Codes of this step and of
   * earlier steps are refused.
   */
  readonly lastStep: number | null;
  /** SHA-256 of each recovery code that is not used yet, in hex. */
  readonly recoveryHashes: readonly string[];
  /**
   * Time at which the admin confirmed the factor with a first code. From then on, signing in with a password also needs
   * a code. Null: the factor is not enabled yet.
   */
  readonly enabledAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** TOTP code of the authenticator app, or a recovery code. Null: the caller sent no code. */
export type SecondFactorCode =
  { readonly totpCode: string } | { readonly recoveryCode: string } | null;

/** A factor that is not enabled yet. Its secret is given in base 32 for typing, and as a URI for a QR code. */
export interface Enrolment {
  readonly factor: SecondFactor;
  readonly secret: string;
  readonly otpauthUri: string;
}

/** A factor with its new recovery codes. Only the hashes of the codes are stored. */
export interface IssuedRecoveryCodes {
  readonly factor: SecondFactor;
  readonly recoveryCodes: readonly string[];
}

/**
 * Proof that an admin sent, in the form that is compared with the stored factor.
 * - TOTP code: its time step; null if the code is wrong, too old or too new
 * - recovery code: its hash
 */
export type SecondFactorProof =
  { readonly step: number | null } | { readonly recoveryHash: string };

export function isEnabled(
  factor: SecondFactor | null,
): factor is SecondFactor & { readonly enabledAt: Date } {
  return factor !== null && factor.enabledAt !== null;
}

/**
 * Returns the factor with the code marked as used, so that the code is refused the next time. Returns null if the code
 * is wrong or already used.
 */
export function afterProof(
  factor: SecondFactor,
  proof: SecondFactorProof,
  now: Date,
): SecondFactor | null {
  if ('recoveryHash' in proof) {
    const recoveryHashes = factor.recoveryHashes.filter((hash) => hash !== proof.recoveryHash);
    if (recoveryHashes.length === factor.recoveryHashes.length) return null;
    return nextVersion(factor, now, { recoveryHashes });
  }
  const { step } = proof;
  if (step === null || (factor.lastStep !== null && step <= factor.lastStep)) return null;
  // Keeps the version, because the API does not show the step.
  return { ...factor, lastStep: step };
}

/**
 * Returns the factor with these recovery codes in place of its former codes. Enables the factor if it is not enabled
 * yet.
 */
export function withRecoveryCodes(
  factor: SecondFactor,
  recoveryHashes: readonly string[],
  now: Date,
): SecondFactor {
  return nextVersion(factor, now, { recoveryHashes, enabledAt: factor.enabledAt ?? now });
}
