import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database';
import { SealedColumns } from '../../platform/secrets';
import type { SecondFactor } from './domain/second-factor';
import { SecondFactorEntity } from './second-factor.entity';

const IS_MISSING = `
  SELECT NOT EXISTS (
    SELECT FROM admin_second_factor WHERE admin_id = $1 AND enabled_at IS NOT NULL) AS missing
  FROM studio_settings WHERE second_factor_required`;

@Injectable()
export class SecondFactorsRepository implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly sealedColumns: SealedColumns,
  ) {}

  onModuleInit(): void {
    this.sealedColumns.register({
      table: 'admin_second_factor',
      key: 'id',
      column: 'sealed_secret',
      ownerOf: (id) => id,
    });
  }

  /** Returns the factor of the admin, even if it is not enabled; null if there is no factor. */
  findByAdmin(adminId: string): Promise<SecondFactor | null> {
    return this.database.selectOne(SecondFactorEntity, 'WHERE admin_id = $1', [adminId]);
  }

  /**
   * Locks the factor of the admin until the transaction ends, and returns it, even if it is not enabled; null if there
   * is no factor.
   */
  lockByAdmin(adminId: string): Promise<SecondFactor | null> {
    return this.database.selectOne(SecondFactorEntity, 'WHERE admin_id = $1 FOR UPDATE', [adminId]);
  }

  async isMissing(adminId: string): Promise<boolean> {
    return (await this.database.queryValue<boolean>(IS_MISSING, [adminId])) === true;
  }

  async insert(factor: SecondFactor): Promise<void> {
    await this.database.insert(SecondFactorEntity, factor);
  }

  async update(factor: SecondFactor): Promise<void> {
    await this.database.updateRevised(SecondFactorEntity, factor, [
      'lastStep',
      'recoveryHashes',
      'enabledAt',
    ]);
  }

  async delete(id: string): Promise<void> {
    await this.database.query('DELETE FROM admin_second_factor WHERE id = $1', [id]);
  }
}
