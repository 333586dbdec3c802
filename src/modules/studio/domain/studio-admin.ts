import type { AdminRole } from '../../../core/access';
import { type ChangeOf, nextVersion } from '../../../core/next-version';
import { type PasswordScheme, passwordSchemeOf } from './password-hash';

export interface StudioAdmin {
  readonly id: string;
  readonly version: number;
  /** As the client sent it. Unique without regard to case. */
  readonly email: string;
  readonly name: string;
  readonly role: AdminRole;
  /** An inactive admin cannot sign in. */
  readonly isActive: boolean;
  /** As the client sent it. Never leaves this module in a response, an event, a log line or an error. */
  readonly passwordHash: string;
  /** Null if the admin never had a password, or if the password changed before this field existed. */
  readonly passwordChangedAt: Date | null;
  /**
   * Changes when all sessions of the admin must end. A session copies this instant at the sign-in and in
   * `SessionsService.keepValid`, and is valid only while the copy equals this instant.
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

/** Returns the key by which emails are compared. Ignores case and Unicode composition. */
export function emailKeyOf(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

/** Returns the scheme, which the API shows instead of the password hash. */
export function schemeOf(admin: StudioAdmin): PasswordScheme {
  return passwordSchemeOf(admin.passwordHash);
}

/** Returns the changed admin, or the same object for a no-op change. A new password hash invalidates all sessions. */
export function withChange(admin: StudioAdmin, change: AdminChange, now: Date): StudioAdmin {
  const { name = admin.name, passwordHash = admin.passwordHash } = change;
  const isNewPassword = passwordHash !== admin.passwordHash;
  if (name === admin.name && !isNewPassword) return admin;
  if (!isNewPassword) return nextVersion(admin, now, { name });
  const passwordChangedAt = nextPasswordChange(admin, now);
  return nextVersion(admin, now, {
    name,
    passwordHash,
    passwordChangedAt,
    sessionsValidFrom: passwordChangedAt,
  });
}

/** Returns `now`, but at least 1 ms after the last change, so that each change of the password changes the instant. */
function nextPasswordChange({ passwordChangedAt }: StudioAdmin, now: Date): Date {
  return new Date(Math.max(now.getTime(), (passwordChangedAt?.getTime() ?? 0) + 1));
}

export function withRole(admin: StudioAdmin, role: AdminRole, now: Date): StudioAdmin {
  return nextVersion(admin, now, { role });
}

/** Deactivates the admin and ends all sessions. Returns the same object if the admin is inactive already. */
export function deactivated(admin: StudioAdmin, now: Date): StudioAdmin {
  if (!admin.isActive) return admin;
  return nextVersion(admin, now, { isActive: false, sessionsValidFrom: now });
}

/** Returns true if the admin is the only active owner. */
export function isLastOwner(admin: StudioAdmin, all: readonly StudioAdmin[]): boolean {
  const isActiveOwner = ({ role, isActive }: StudioAdmin): boolean => role === 'owner' && isActive;
  return (
    isActiveOwner(admin) && !all.some((other) => other.id !== admin.id && isActiveOwner(other))
  );
}
