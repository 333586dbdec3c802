import { Injectable } from '@nestjs/common';
import {
  Database,
  ListQuery,
  onViolation,
  type Page,
  type PageRequest,
} from '../../platform/database';
import { emailKeyOf, type StudioAdmin } from './domain/studio-admin';
import { StudioAdminEntity } from './studio-admin.entity';
import { studioAdminEmailTaken } from './studio.errors';

/**
 * Selects the password hash of one active admin. The candidates are the first thousand active admins with a password,
 * by id. The selected position is `$1` modulo the number of candidates.
 */
const ANY_PASSWORD_HASH = `
  WITH known AS (
    SELECT password_hash, row_number() OVER () - 1 AS place, count(*) OVER () AS admins
    FROM (SELECT password_hash FROM studio_admin
      WHERE is_active AND password_hash <> '*' ORDER BY id LIMIT 1000) AS admin)
  SELECT password_hash FROM known WHERE place = $1 % admins`;

/** Ends the sessions of an admin: sets `sessions_valid_from` to a time that differs from the present one. */
const END_SESSIONS = `
  UPDATE studio_admin
  SET sessions_valid_from = greatest($2::timestamptz, sessions_valid_from + interval '1 millisecond')
  WHERE id = $1`;

@Injectable()
export class StudioRepository {
  constructor(private readonly database: Database) {}

  async insert(admin: StudioAdmin): Promise<void> {
    await onViolation(
      this.database.insert(StudioAdminEntity, {
        ...admin,
        emailKey: emailKeyOf(admin.email),
      }),
      'studio_admin_email_unique',
      () => studioAdminEmailTaken(admin.email),
    );
  }

  find(id: string): Promise<StudioAdmin | null> {
    return this.database.selectOne(StudioAdminEntity, 'WHERE id = $1', [id]);
  }

  findByEmail(emailKey: string): Promise<StudioAdmin | null> {
    return this.database.selectOne(StudioAdminEntity, 'WHERE email_key = $1', [emailKey]);
  }

  hasActiveOwner(): Promise<boolean> {
    return this.database.repository(StudioAdminEntity).existsBy({ role: 'owner', isActive: true });
  }

  /** Returns the password hash of the active admin that `number` selects; null if no active admin has a password. */
  anyPasswordHash(number: number): Promise<string | null> {
    return this.database.queryValue<string>(ANY_PASSWORD_HASH, [number]);
  }

  lock(id: string): Promise<StudioAdmin | null> {
    return this.database.selectOne(StudioAdminEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  /**
   * Locks all active owners and the admin with this id, in the order of their ids, until the transaction ends.
   * Concurrent deactivations therefore run one after the other, and each sees the results of earlier ones.
   */
  lockWithActiveOwners(id: string): Promise<readonly StudioAdmin[]> {
    const tail = `WHERE id = $1 OR (role = 'owner' AND is_active) ORDER BY id FOR UPDATE`;
    return this.database.select(StudioAdminEntity, tail, [id]);
  }

  page(request: PageRequest): Promise<Page<StudioAdmin>> {
    return new ListQuery('studio_admin').page(this.database, StudioAdminEntity, request);
  }

  async update(admin: StudioAdmin): Promise<void> {
    await this.database.updateRevised(StudioAdminEntity, admin, [
      'name',
      'role',
      'passwordHash',
      'passwordChangedAt',
      'sessionsValidFrom',
      'isActive',
    ]);
  }

  async endSessions(id: string, now: Date): Promise<void> {
    await this.database.query(END_SESSIONS, [id, now]);
  }
}
