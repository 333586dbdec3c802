import { Injectable } from '@nestjs/common';
import {
  Database,
  type Page,
  pageById,
  type PageRequest,
  violatedConstraint,
} from '../../platform/database';
import { emailKeyOf, type StudioAdmin } from './domain/studio-admin';
import { StudioAdminEntity } from './studio-admin.entity';
import { studioAdminEmailTaken } from './studio.errors';

@Injectable()
export class StudioRepository {
  constructor(private readonly database: Database) {}

  /** @throws {ProblemError} `studio_admin_email_taken` */
  async insert(admin: StudioAdmin): Promise<void> {
    try {
      await this.database.insert(StudioAdminEntity, {
        ...admin,
        emailKey: emailKeyOf(admin.email),
      });
    } catch (error) {
      if (violatedConstraint(error) === 'studio_admin_email_unique') {
        throw studioAdminEmailTaken(admin.email);
      }
      throw error;
    }
  }

  find(id: string): Promise<StudioAdmin | null> {
    return this.admins.findOneBy({ id });
  }

  /** Locks the admin until the transaction ends. */
  lock(id: string): Promise<StudioAdmin | null> {
    this.database.requireTransaction();
    return this.admins.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
  }

  /**
   * Locks the admin, if it exists, and all active owners until the transaction ends. One statement locks them in the order
   * of their ids, so that concurrent deactivations run one after the other and the second sees the result of the first.
   */
  lockWithActiveOwners(id: string): Promise<readonly StudioAdmin[]> {
    this.database.requireTransaction();
    return this.admins
      .createQueryBuilder('admin')
      .where('admin.id = :id', { id })
      .orWhere(`(admin.role = 'owner' AND admin.isActive)`)
      .orderBy('admin.id')
      .setLock('pessimistic_write')
      .getMany();
  }

  page(request: PageRequest): Promise<Page<StudioAdmin>> {
    return pageById(this.admins.createQueryBuilder('admin'), request);
  }

  /** Writes the fields that an update or a deactivation may change. */
  async update(admin: StudioAdmin): Promise<void> {
    const { name, passwordHash, sessionsValidFrom, isActive, version, updatedAt } = admin;
    await this.database.update(StudioAdminEntity, admin.id, {
      name,
      passwordHash,
      sessionsValidFrom,
      isActive,
      version,
      updatedAt,
    });
  }

  private get admins() {
    return this.database.repository(StudioAdminEntity);
  }
}
