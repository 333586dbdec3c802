import { Check, Column, Entity, Unique } from 'typeorm';
import type { AdminRole } from '../../core/access';
import { IdColumn, InstantColumn, RowVersionColumn } from '../../platform/database';
import type { StudioAdmin } from './domain/studio-admin';

@Entity('studio_admin')
@Unique('studio_admin_email_unique', ['emailKey'])
@Check('studio_admin_role_check', `"role" IN ('owner', 'admin', 'support', 'viewer')`)
export class StudioAdminEntity implements StudioAdmin {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 254 }) readonly email!: string;
  /**
   * Key by which emails are compared. The application computes it, so that it does not depend on the locale of the
   * database.
   */
  @Column({ type: 'text' }) readonly emailKey!: string;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @Column({ type: 'varchar', length: 10 }) readonly role!: AdminRole;
  @Column({ type: 'boolean', default: true }) readonly isActive!: boolean;
  @Column({ type: 'varchar', length: 512 }) readonly passwordHash!: string;
  @InstantColumn({ nullable: true }) readonly passwordChangedAt!: Date | null;
  @InstantColumn() readonly sessionsValidFrom!: Date;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
