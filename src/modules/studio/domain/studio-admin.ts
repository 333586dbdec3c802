import type { AdminRole } from '../../../core/access';
import { type ChangeOf, nextVersion } from '../../../core/next-version';
import { type PasswordScheme, passwordSchemeOf } from './password-hash';

export interface StudioAdmin {
  readonly id: string;
  readonly version: number;
  /**
   * Email as it was received, in its original case. Two admins cannot have emails that differ only in case or Unicode
   * composition.
   */
  readonly email: string;
  readonly name: string;
  readonly role: AdminRole;
  /** True if the admin can sign in. An inactive admin cannot sign in. */
  readonly isActive: boolean;
  /**
   * Hash as it was received; `*` if the admin has no password. It never leaves this module in a response, an event, a
   * log line or an error.
   */
  readonly passwordHash: string;
  /**
   * Time at which the current password was set. Null if the admin never had a password, or if the password was set
   * before this field existed.
   */
  readonly passwordChangedAt: Date | null;
  /**
   * Instant from which sessions are valid. Each session holds a copy of it, and is valid only while the copy is equal.
   * A new value therefore ends all sessions of the admin, except a session whose copy `SessionsService.keepValid`
   * renews.
   */
  readonly sessionsValidFrom: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type AdminAccount = Omit<StudioAdmin, 'passwordHash'>;

export type AdminDetails = Pick<StudioAdmin, 'email' | 'name' | 'role' | 'passwordHash'>;

export type AdminChange = ChangeOf<StudioAdmin, 'name' | 'passwordHash'>;

export function toAccount({ passwordHash: _, ...account }: StudioAdmin): AdminAccount {
  return account;
}

/** Returns the key by which emails are compared. It ignores case and Unicode composition. */
export function emailKeyOf(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

export function schemeOf(admin: StudioAdmin): PasswordScheme {
  return passwordSchemeOf(admin.passwordHash);
}

/**
 * Returns the changed admin, or the same object if nothing changes. A new password hash ends all sessions of the admin.
 */
export function withChange(admin: StudioAdmin, change: AdminChange, now: Date): StudioAdmin {
  const { name = admin.name, passwordHash = admin.passwordHash } = change;
  const isNewPassword = passwordHash !== admin.passwordHash;
  if (name === admin.name && !isNewPassword) return admin;
  if (!isNewPassword) return nextVersion(admin, now, { name });
  return nextVersion(admin, now, {
    name,
    passwordHash,
    passwordChangedAt: nextInstant(admin.passwordChangedAt, now),
    sessionsValidFrom: nextInstant(admin.sessionsValidFrom, now),
  });
}

/** Returns `now`, but at least 1 ms after the last instant. Sessions end only if `sessionsValidFrom` changes. */
function nextInstant(last: Date | null, now: Date): Date {
  return new Date(Math.max(now.getTime(), (last?.getTime() ?? 0) + 1));
}

export function withRole(admin: StudioAdmin, role: AdminRole, now: Date): StudioAdmin {
  return nextVersion(admin, now, { role });
}

/** Returns the inactive admin, with all sessions ended. Returns the same object if the admin is already inactive. */
export function deactivated(admin: StudioAdmin, now: Date): StudioAdmin {
  if (!admin.isActive) return admin;
  return nextVersion(admin, now, { isActive: false, sessionsValidFrom: now });
}

/**
 * Returns true if the admin is the only active owner.
 * @param all must include all active owners
 */
export function isLastOwner(admin: StudioAdmin, all: readonly StudioAdmin[]): boolean {
  const isActiveOwner = ({ role, isActive }: StudioAdmin): boolean => role === 'owner' && isActive;
  return (
    isActiveOwner(admin) && !all.some((other) => other.id !== admin.id && isActiveOwner(other))
  );
}
