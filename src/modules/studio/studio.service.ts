import { Injectable } from '@nestjs/common';
import { scopesOfRole } from '../../core/access';
import { actAsAdmin, type Principal, requireHeldScopes } from '../../platform/access';
import { raise } from '../../platform/errors';
import { Clock } from '../../platform/clock';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  type VersionCondition,
} from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import {
  type AdminChange,
  type AdminDetails,
  deactivated,
  emailKeyOf,
  isLastOwner,
  type StudioAdmin,
  withChange,
} from './domain/studio-admin';
import { NO_PASSWORD } from './domain/password-hash';
import { lastOwner, studioAdminNotFound } from './studio.errors';
import { studioAdminCreated, studioAdminUpdated } from './studio.events';
import { StudioRepository } from './studio.repository';

/** Caller that creates or changes an admin. The caller must have all scopes of the role of the admin. */
type AdminEditor = Pick<Principal, 'scopes'>;

@Injectable()
export class StudioService {
  constructor(
    private readonly database: Database,
    private readonly admins: StudioRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @throws {ProblemError} `scope_not_held`, `studio_admin_email_taken` */
  async create(details: AdminDetails, caller: AdminEditor): Promise<StudioAdmin> {
    requireHeldScopes(scopesOfRole(details.role), caller);
    return this.createAsProvided(details);
  }

  /**
   * Creates an admin without checking the scopes of a caller. People from the OpenID provider may get any role, because
   * the operator configured the provider.
   * @throws {ProblemError} `studio_admin_email_taken`
   */
  async createAsProvided(details: AdminDetails): Promise<StudioAdmin> {
    const now = this.clock.now();
    const admin: StudioAdmin = {
      ...details,
      id: newId('admin'),
      version: 1,
      isActive: true,
      passwordChangedAt: details.passwordHash === NO_PASSWORD ? null : now,
      sessionsValidFrom: now,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      await this.admins.insert(admin);
      // A person creates the account by signing in for the first time.
      actAsAdmin(admin.id);
      await this.outbox.record(studioAdminCreated, { after: admin, occurredAt: now });
    });
    return admin;
  }

  /** @throws {ProblemError} `studio_admin_not_found` */
  async get(id: string): Promise<StudioAdmin> {
    return (await this.admins.find(id)) ?? raise(studioAdminNotFound(id));
  }

  /**
   * Returns the admin with this email, ignoring case.
   * @throws {ProblemError} `studio_admin_not_found`
   */
  async getByEmail(email: string): Promise<StudioAdmin> {
    return (await this.admins.findByEmail(emailKeyOf(email))) ?? raise(studioAdminNotFound(email));
  }

  hasActiveOwner(): Promise<boolean> {
    return this.admins.hasActiveOwner();
  }

  list(request: PageRequest): Promise<Page<StudioAdmin>> {
    return this.admins.page(request);
  }

  /**
   * Changes the name or the password of an admin. A new password ends the sessions of the admin. If nothing changes,
   * writes nothing and records no event.
   * @throws {ProblemError} `studio_admin_not_found`, `scope_not_held`, `precondition_failed`
   */
  update(
    id: string,
    change: AdminChange,
    { expected, caller }: { readonly expected: VersionCondition; readonly caller: AdminEditor },
  ): Promise<StudioAdmin> {
    return this.database.transaction(async () => {
      const before = (await this.admins.lock(id)) ?? raise(studioAdminNotFound(id));
      requireHeldScopes(scopesOfRole(before.role), caller);
      assertVersion(expected, before);
      const now = this.clock.now();
      return this.write(before, withChange(before, change, now), now);
    });
  }

  /**
   * Deactivates an admin permanently. Does nothing if the admin is inactive already.
   * @throws {ProblemError} `studio_admin_not_found`, `precondition_failed`, `last_owner`
   */
  deactivate(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const locked = await this.admins.lockWithActiveOwners(id);
      const before = locked.find((admin) => admin.id === id);
      if (before === undefined) throw studioAdminNotFound(id);
      assertVersion(expected, before);
      if (isLastOwner(before, locked)) throw lastOwner(id);
      const now = this.clock.now();
      await this.write(before, deactivated(before, now), now);
    });
  }

  /** Stores a changed admin, with the event of the change. Does nothing if `after` is `before`. */
  async write(before: StudioAdmin, after: StudioAdmin, now: Date): Promise<StudioAdmin> {
    if (after === before) return before;
    await this.admins.update(after);
    await this.outbox.recordChange(studioAdminUpdated, { after, before }, now);
    return after;
  }
}
