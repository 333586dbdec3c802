export const SIGN_IN_METHODS = ['password', 'openid_connect'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** Session of an admin in one browser. The secret in its cookie is not stored. */
export interface Session {
  readonly id: string;
  readonly version: number;
  readonly adminId: string;
  /** Copy of `sessionsValidFrom` of the admin, made at the sign-in and by `SessionsService.keepValid`. */
  readonly validFrom: Date;
  /**
   * Present `sessionsValidFrom` of the admin, read in the same statement as `validFrom`, because both change in one
   * transaction. Null if the admin is inactive.
   */
  readonly adminValidFrom: Date | null;
  readonly method: SignInMethod;
  /** IP address that signed in. */
  readonly address: string;
  /** User agent that signed in; empty if it sent none. */
  readonly userAgent: string;
  readonly createdAt: Date;
  /** Time of the last use, written at most once a minute. */
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  /** Time of the sign-out or revocation; null if neither happened. */
  readonly endedAt: Date | null;
}

export interface SessionState {
  readonly id: string;
  readonly session: Session;
  readonly isActive: boolean;
}

const HOUR_MS = 3_600_000;
const IDLE_MS = 12 * HOUR_MS;
export const LONGEST_SESSION_MS = 7 * 24 * HOUR_MS;
const TOUCH_MS = 60_000;

/** Returns when the session ends without further use. */
export function endsAt({ lastUsedAt, expiresAt }: Session): Date {
  return new Date(Math.min(lastUsedAt.getTime() + IDLE_MS, expiresAt.getTime()));
}

/**
 * Returns true if the session has not ended or expired, was used in the last 12 hours, and its admin is active. A
 * change of `sessionsValidFrom` of the admin, for example with a new password, makes all sessions inactive for which
 * `SessionsService.keepValid` is not called.
 */
export function isActive(session: Session, now: Date): boolean {
  return (
    session.adminValidFrom?.getTime() === session.validFrom.getTime() &&
    session.endedAt === null &&
    now < endsAt(session)
  );
}

/** Returns true if the last recorded use is at least a minute ago, so that the present use must be recorded. */
export function isTouchDue({ lastUsedAt }: Session, now: Date): boolean {
  return now.getTime() - lastUsedAt.getTime() >= TOUCH_MS;
}

/** Returns the ended session, or the session itself if it was already ended. */
export function ended(session: Session, now: Date): Session {
  if (session.endedAt !== null) return session;
  return { ...session, endedAt: now, version: session.version + 1 };
}
