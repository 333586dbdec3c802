import { nextVersion } from '../../../core/next-version';

/**
 * Second factor of an admin: time-based one-time passwords (TOTP), and recovery codes for use when the device is
 * lost.
 */
export interface SecondFactor {
  readonly id: string;
  readonly version: number;
  readonly adminId: string;
  /** Secret that is shared with the admin's authenticator app, encrypted. */
  readonly sealedSecret: string;
  /** Time step of the last accepted code; null before the first one. Codes of this and of earlier steps are refused. */
  readonly lastStep: number | null;
  /** SHA-256 of the unused recovery codes, in hex. */
  readonly recoveryHashes: readonly string[];
  /**
   * Time of the first accepted code. From then on, sign-ins with a password need the factor. Null: no code was accepted
   * yet.
   */
  readonly enabledAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Code of the authenticator app, or a recovery code; null: the caller sent no code. */
export type SecondFactorCode =
  { readonly totpCode: string } | { readonly recoveryCode: string } | null;

/** A factor that is not enabled yet, with the secret for the authenticator. */
export interface Enrolment {
  readonly factor: SecondFactor;
  readonly secret: string;
  readonly otpauthUri: string;
}

/** A factor with new recovery codes, of which only the hashes are stored. */
export interface IssuedRecoveryCodes {
  readonly factor: SecondFactor;
  readonly recoveryCodes: readonly string[];
}

/**
 * Proof that an admin has the factor. For a TOTP code: the time step that the code matches; null if it matches none.
 * For a recovery code: its hash. {@link afterProof} compares the proof with the stored factor.
 */
export type SecondFactorProof =
  { readonly step: number | null } | { readonly recoveryHash: string };

/** Returns true if sign-ins with a password need the factor. */
export function isEnabled(
  factor: SecondFactor | null,
): factor is SecondFactor & { readonly enabledAt: Date } {
  return factor !== null && factor.enabledAt !== null;
}

/** Returns the factor after the proof was used, or null if the proof is wrong or was already used. */
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

/** Replaces the recovery codes. Enables the factor if it is not enabled yet. */
export function withRecoveryCodes(
  factor: SecondFactor,
  recoveryHashes: readonly string[],
  now: Date,
): SecondFactor {
  return nextVersion(factor, now, { recoveryHashes, enabledAt: factor.enabledAt ?? now });
}
