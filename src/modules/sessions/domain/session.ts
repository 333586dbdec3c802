export const SIGN_IN_METHODS = ['password', 'openid_connect'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** Session of an admin in one browser. The session cookie holds a secret. Only the hash of the secret is stored. */
export interface Session {
  readonly id: string;
  readonly version: number;
  readonly adminId: string;
  /**
   * Copy of the admin's `sessionsValidFrom`. The session is valid only while the copy equals the current value. The
   * copy is made when the session begins, and can be renewed by `SessionsService.keepValid`.
   */
  readonly validFrom: Date;
  /**
   * Current `sessionsValidFrom` of the admin; null if the admin is inactive. Must be read in the same statement as
   * `validFrom`, because a transaction may change both between two statements.
   */
  readonly adminValidFrom: Date | null;
  readonly method: SignInMethod;
  /** IP address at sign-in. */
  readonly address: string;
  /** User agent at sign-in; empty if the browser sent none. */
  readonly userAgent: string;
  readonly createdAt: Date;
  /** Time of the last recorded use. Uses are recorded at most once a minute. */
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  /** Time of the sign-out or revocation; null if the session was not ended in one of these ways. */
  readonly endedAt: Date | null;
}

export interface SessionState extends Session {
  readonly isActive: boolean;
}

const HOUR_MS = 3_600_000;
const IDLE_MS = 12 * HOUR_MS;
export const LONGEST_SESSION_MS = 7 * 24 * HOUR_MS;
const TOUCH_MS = 60_000;

/** Returns when the session ends without further use: 12 hours after the last use, but not after `expiresAt`. */
export function endsAt({ lastUsedAt, expiresAt }: Session): Date {
  return new Date(Math.min(lastUsedAt.getTime() + IDLE_MS, expiresAt.getTime()));
}

/**
 * Returns true if the session can be used. All of these must hold:
 * - It was not signed out or revoked, and has not expired.
 * - Its last use is less than 12 hours ago.
 * - The admin is active, and `validFrom` equals the admin's `sessionsValidFrom`. The latter changes with a new
 *   password.
 */
export function isActive(session: Session, now: Date): boolean {
  return (
    session.adminValidFrom?.getTime() === session.validFrom.getTime() &&
    session.endedAt === null &&
    now < endsAt(session)
  );
}

export function isTouchDue({ lastUsedAt }: Session, now: Date): boolean {
  return now.getTime() - lastUsedAt.getTime() >= TOUCH_MS;
}

/** Returns the ended session, or the session itself if it is no longer active. */
export function ended(session: Session, now: Date): Session {
  if (!isActive(session, now)) return session;
  return { ...session, endedAt: now, version: session.version + 1 };
}
