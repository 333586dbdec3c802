import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import type { Session } from './domain/session';
import { SessionEntity } from './session.entity';

const DELETE_EXPIRED = `
  DELETE FROM admin_session WHERE id IN (
    SELECT id FROM admin_session WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)
  RETURNING id`;

const KEEP_VALID = `
  UPDATE admin_session AS session SET valid_from = admin.sessions_valid_from
  FROM studio_admin AS admin WHERE session.id = $1 AND admin.id = session.admin_id`;

@Injectable()
export class SessionsRepository {
  constructor(private readonly database: Database) {}

  async insert(session: Session, hash: string): Promise<void> {
    await this.database.insert(SessionEntity, { ...session, hash });
  }

  findByHash(hash: string): Promise<Session | null> {
    return this.database.selectOne(SessionEntity, 'WHERE hash = $1', [hash]);
  }

  find(id: string): Promise<Session | null> {
    return this.database.selectOne(SessionEntity, 'WHERE id = $1', [id]);
  }

  /**
   * Locks the session, then reads it in a second statement. One statement is not enough: if it has to wait for the
   * lock, it reads the admin's row (`adminValidFrom`) as the row was before the wait.
   */
  async lock(id: string): Promise<Session | null> {
    await this.database.query('SELECT FROM admin_session WHERE id = $1 FOR UPDATE', [id]);
    return this.find(id);
  }

  /** @param adminId admin whose sessions are listed; null: sessions of all admins */
  page(adminId: string | null, request: PageRequest): Promise<Page<Session>> {
    const query = new ListQuery('admin_session').where('admin_id = $', adminId);
    return query.page(this.database, SessionEntity, request);
  }

  async touch(id: string, now: Date): Promise<void> {
    await this.database.query('UPDATE admin_session SET last_used_at = $2 WHERE id = $1', [
      id,
      now,
    ]);
  }

  /** Makes the session valid again: copies the admin's changed `sessions_valid_from` to the session's `valid_from`. */
  async keepValid(id: string): Promise<void> {
    await this.database.query(KEEP_VALID, [id]);
  }

  async end({ id, endedAt, version }: Session): Promise<void> {
    await this.database.update(SessionEntity, id, { endedAt, version });
  }

  /** Deletes at most `limit` sessions that expired earlier than `before`. Returns the number of deleted sessions. */
  async deleteExpired(before: Date, limit: number): Promise<number> {
    return (await this.database.query(DELETE_EXPIRED, [before, limit])).length;
  }
}
