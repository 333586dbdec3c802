import { Injectable } from '@nestjs/common';
import { actAsAdmin, hashOf, isSecret, newSecret, type Principal } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Configuration } from '../../platform/config';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { forbidden, raise, unauthenticated } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { ClockCheck } from '../../platform/processes';
import { type AdminAccount, AdminAccounts } from '../studio';
import {
  ended,
  isActive,
  isTouchDue,
  LONGEST_SESSION_MS,
  type Session,
  type SessionState,
  type SignInMethod,
} from './domain/session';
import { SecondFactorsService } from './second-factors.service';
import { sessionNotFound } from './sessions.errors';
import { sessionCreated, sessionEnded } from './sessions.events';
import { SessionsRepository } from './sessions.repository';

export interface CurrentSession {
  readonly session: Session;
  readonly admin: AdminAccount;
  /** True if the admin must enrol a second factor before doing anything else. */
  readonly mustEnrol: boolean;
}

export interface Browser {
  readonly address: string;
  readonly userAgent: string;
}

/** A new session with its secret, which goes into the session cookie. The secret is not stored. */
export interface SessionWithSecret extends CurrentSession {
  readonly secret: string;
}

const MAX_ADDRESS_LENGTH = 45;
const MAX_USER_AGENT_LENGTH = 200;

@Injectable()
export class SessionsService {
  constructor(
    private readonly database: Database,
    private readonly sessions: SessionsRepository,
    private readonly admins: AdminAccounts,
    private readonly secondFactors: SecondFactorsService,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
    private readonly clockCheck: ClockCheck,
  ) {}

  /** Begins a session. The caller must have authenticated the admin. */
  async begin(
    admin: AdminAccount,
    browser: Browser,
    method: SignInMethod,
  ): Promise<SessionWithSecret> {
    const now = this.clock.now();
    const secret = newSecret(`ss_${this.configuration.environmentName}_`);
    const session: Session = {
      id: newId('sess'),
      version: 1,
      adminId: admin.id,
      validFrom: admin.sessionsValidFrom,
      adminValidFrom: admin.sessionsValidFrom,
      method,
      address: browser.address.slice(0, MAX_ADDRESS_LENGTH),
      userAgent: browser.userAgent.slice(0, MAX_USER_AGENT_LENGTH),
      createdAt: now,
      lastUsedAt: now,
      expiresAt: new Date(now.getTime() + LONGEST_SESSION_MS),
      endedAt: null,
    };
    await this.database.transaction(async () => {
      await this.sessions.insert(session, hashOf(secret));
      await this.outbox.record(sessionCreated, {
        after: { ...session, isActive: true },
        occurredAt: now,
      });
    });
    return { session, admin, secret, mustEnrol: await this.mustEnrol(session) };
  }

  /**
   * Returns the active session with this secret, and its admin. Records the use at most once a minute, and only if the
   * clock is right. Reads the session from the database on every call, so that every process refuses a session as soon
   * as it has ended.
   * @param secret secret in the session cookie; null if the request has no such cookie
   * @throws {ProblemError} `unauthenticated`; `service_unavailable` if the clock is wrong and the session has ended by
   *   that clock
   */
  async current(secret: string | null): Promise<CurrentSession> {
    if (secret === null) throw unauthenticated('missing');
    const session = isSecret(secret) ? await this.sessions.findByHash(hashOf(secret)) : null;
    const now = this.clock.now();
    if (session === null) throw unauthenticated('session_ended');
    if (!isActive(session, now)) {
      this.clockCheck.requireRight();
      throw unauthenticated('session_ended');
    }
    const admin =
      (await this.admins.find(session.adminId)) ?? raise(unauthenticated('session_ended'));
    const mustEnrol = await this.mustEnrol(session);
    if (!isTouchDue(session, now) || !this.clockCheck.isRight) return { session, admin, mustEnrol };
    await this.sessions.touch(session.id, now);
    return { session: { ...session, lastUsedAt: now }, admin, mustEnrol };
  }

  /** @throws {ProblemError} `unauthenticated` if the session is no longer active or does not exist */
  async requireActive(id: string): Promise<void> {
    const session = await this.sessions.find(id);
    if (session === null || !isActive(session, this.clock.now())) {
      throw unauthenticated('session_ended');
    }
  }

  /**
   * Keeps this session valid after a change that ends all sessions of its admin. Call it after the change, in the same
   * transaction.
   */
  async keepValid(id: string): Promise<void> {
    await this.sessions.keepValid(id);
  }

  /**
   * Ends the session with this secret. Does nothing if there is no such session, or if it is no longer active.
   * @param secret secret in the session cookie; null if the request has no such cookie
   */
  async signOut(secret: string | null): Promise<void> {
    const session = secret === null ? null : await this.sessions.findByHash(hashOf(secret));
    if (session === null || !isActive(session, this.clock.now())) return;
    actAsAdmin(session.adminId);
    await this.database.transaction(() => this.end(session.id));
  }

  /** Returns sessions of all admins if the caller has `studio:read`, otherwise only sessions of the caller. */
  async list(caller: Principal, request: PageRequest): Promise<Page<SessionState>> {
    const adminId = caller.scopes.has('studio:read') ? null : caller.id;
    const { items, next } = await this.sessions.page(adminId, request);
    const now = this.clock.now();
    return {
      items: items.map((session) => ({ ...session, isActive: isActive(session, now) })),
      next,
    };
  }

  /**
   * Ends a session. Does nothing if the session is no longer active. For a session of another admin, the caller needs
   * `studio:read` and `studio:write`.
   * @throws {ProblemError} `session_not_found` (also if `studio:read` is missing), `forbidden` (if only `studio:write`
   *   is missing)
   */
  revoke(id: string, caller: Principal): Promise<void> {
    return this.database.transaction(async () => {
      const session = await this.sessions.lock(id);
      const isOwn = session?.adminId === caller.id;
      if (session === null || !(isOwn || caller.scopes.has('studio:read'))) {
        throw sessionNotFound(id);
      }
      if (!isOwn && !caller.scopes.has('studio:write')) throw forbidden('studio:write');
      await this.end(id);
    });
  }

  /**
   * Returns true if the admin must first enrol a second factor. Never true for a session that began with OpenID
   * Connect, because the provider is then responsible for second factors.
   */
  private async mustEnrol({ method, adminId }: Session): Promise<boolean> {
    return method === 'password' && (await this.secondFactors.isMissing(adminId));
  }

  private async end(id: string): Promise<void> {
    const before = await this.sessions.lock(id);
    if (before === null) return;
    const now = this.clock.now();
    const after = ended(before, now);
    if (after === before) return;
    await this.sessions.end(after);
    await this.outbox.record(sessionEnded, {
      before: { ...before, isActive: true },
      after: { ...after, isActive: false },
      occurredAt: now,
    });
  }
}
