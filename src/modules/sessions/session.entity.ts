import { Check, Column, Entity, Index, Unique, VirtualColumn } from 'typeorm';
import {
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { Session, SignInMethod } from './domain/session';

@Entity('admin_session')
@Unique('admin_session_hash_unique', ['hash'])
@Check('admin_session_method_check', `"method" IN ('password', 'openid_connect')`)
@Index('admin_session_admin_index', ['adminId', 'id'])
@Index('admin_session_expiry_index', ['expiresAt'])
export class SessionEntity implements Session {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn() readonly adminId!: string;
  /** SHA-256 of the secret in the session cookie, in hex. */
  @Column({ type: 'char', length: 64 }) readonly hash!: string;
  @InstantColumn() readonly validFrom!: Date;
  @VirtualColumn({
    type: 'timestamptz',
    query: (session) =>
      `SELECT CASE WHEN is_active THEN sessions_valid_from END FROM studio_admin WHERE id = ${session}.admin_id`,
  })
  readonly adminValidFrom!: Date | null;
  @Column({ type: 'varchar', length: 20, default: 'password' }) readonly method!: SignInMethod;
  @Column({ type: 'varchar', length: 45 }) readonly address!: string;
  @Column({ type: 'varchar', length: 200 }) readonly userAgent!: string;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly lastUsedAt!: Date;
  @InstantColumn() readonly expiresAt!: Date;
  @InstantColumn({ nullable: true }) readonly endedAt!: Date | null;
}
