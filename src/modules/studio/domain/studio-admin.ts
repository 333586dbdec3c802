import { type PasswordScheme, passwordSchemeOf } from './password-scheme';

export const ADMIN_ROLES = ['owner', 'admin', 'viewer'] as const;
export type AdminRole = (typeof ADMIN_ROLES)[number];

/** An administrator account of the studio. */
export interface StudioAdmin {
  readonly id: string;
  readonly version: number;
  /** As it was sent; no two differ in case alone. */
  readonly email: string;
  readonly name: string;
  readonly role: AdminRole;
  /** An admin who is not active cannot sign in. */
  readonly isActive: boolean;
  /** As it was sent. Leaves this module in no form: not in an answer, an event, a log or an error. */
  readonly passwordHash: string;
  /** Sessions begun before this instant are over. */
  readonly sessionsValidFrom: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new admin is made of. */
export type AdminDetails = Pick<StudioAdmin, 'email' | 'name' | 'role' | 'passwordHash'>;

/** What an update may change; what is left out stays. */
export interface AdminChange {
  readonly name?: string | undefined;
  readonly passwordHash?: string | undefined;
}

/** Two emails with the same key are the same: case and the way a letter is composed do not count. */
export function emailKeyOf(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

/** What the API shows in place of the password hash. */
export function schemeOf(admin: StudioAdmin): PasswordScheme {
  return passwordSchemeOf(admin.passwordHash);
}

/** The admin after the change; the same object when it changes nothing. A new password ends the sessions of the old one. */
export function withChange(admin: StudioAdmin, change: AdminChange, now: Date): StudioAdmin {
  const { name = admin.name, passwordHash = admin.passwordHash } = change;
  const isNewPassword = passwordHash !== admin.passwordHash;
  if (name === admin.name && !isNewPassword) return admin;
  return {
    ...admin,
    name,
    passwordHash,
    sessionsValidFrom: isNewPassword ? now : admin.sessionsValidFrom,
    version: admin.version + 1,
    updatedAt: now,
  };
}

/** The admin, no longer active and signed out; the same object when it was not active. */
export function deactivated(admin: StudioAdmin, now: Date): StudioAdmin {
  if (!admin.isActive) return admin;
  return {
    ...admin,
    isActive: false,
    sessionsValidFrom: now,
    version: admin.version + 1,
    updatedAt: now,
  };
}

/** Whether nobody would be left who may do everything. */
export function isLastOwner(admin: StudioAdmin, all: readonly StudioAdmin[]): boolean {
  const isActiveOwner = ({ role, isActive }: StudioAdmin): boolean => role === 'owner' && isActive;
  return (
    isActiveOwner(admin) && !all.some((other) => other.id !== admin.id && isActiveOwner(other))
  );
}
