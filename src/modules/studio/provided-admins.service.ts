import { Injectable } from '@nestjs/common';
import type { AdminRole } from '../../core/access';
import { actAsAdmin } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { isProblem } from '../../platform/errors';
import {
  type AdminAccount,
  emailKeyOf,
  isLastOwner,
  toAccount,
  withRole,
} from './domain/studio-admin';
import { NO_PASSWORD } from './domain/password-hash';
import { studioAdminEmailTaken } from './studio.errors';
import { StudioRepository } from './studio.repository';
import { StudioService } from './studio.service';

/** Person whom an OpenID provider has identified. */
export interface ProvidedPerson {
  readonly email: string;
  readonly name: string;
  /** Role that follows from the person's groups at the provider; null if no role claim is configured. */
  readonly role: AdminRole | null;
}

/** Finds or creates the accounts of people who sign in with OpenID Connect. The email identifies the account. */
@Injectable()
export class ProvidedAdmins {
  constructor(
    private readonly database: Database,
    private readonly admins: StudioRepository,
    private readonly studio: StudioService,
    private readonly clock: Clock,
  ) {}

  /**
   * Finds or creates the account of the person. If the provider gives a role, the account gets this role. The last
   * active owner stays an owner, whatever role the provider gives. Returns the account, or the reason why the person
   * may not sign in.
   * @param createsUnknown true: a person whose email no admin has gets a new account, without a password. The role of
   *   the account is `viewer` if the provider gives no role.
   */
  async accountOf(
    person: ProvidedPerson,
    createsUnknown: boolean,
  ): Promise<AdminAccount | 'unknown_admin' | 'inactive_admin'> {
    const known = await this.admins.findByEmail(emailKeyOf(person.email));
    if (known !== null) return this.withProvidedRole(known.id, person.role);
    if (!createsUnknown) return 'unknown_admin';
    const { email, name, role } = person;
    const details = { email, name, role: role ?? ('viewer' as const), passwordHash: NO_PASSWORD };
    try {
      return toAccount(await this.studio.createAsProvided(details));
    } catch (error) {
      if (!isProblem(error, studioAdminEmailTaken)) throw error;
      // A concurrent sign-in has created the account.
      return this.accountOf(person, false);
    }
  }

  private withProvidedRole(
    id: string,
    role: AdminRole | null,
  ): Promise<AdminAccount | 'unknown_admin' | 'inactive_admin'> {
    return this.database.transaction(async () => {
      const locked = await this.admins.lockWithActiveOwners(id);
      const before = locked.find((admin) => admin.id === id);
      if (before === undefined) return 'unknown_admin';
      if (!before.isActive) return 'inactive_admin';
      actAsAdmin(id);
      if (role === null || role === before.role || isLastOwner(before, locked)) {
        return toAccount(before);
      }
      const now = this.clock.now();
      return toAccount(await this.studio.write(before, withRole(before, role, now), now));
    });
  }
}
