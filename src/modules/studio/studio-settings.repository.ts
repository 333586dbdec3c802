import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { SETTINGS_ID, type StudioSettings } from './domain/studio-settings';
import { StudioSettingsEntity } from './studio-settings.entity';

/** Selects the only row of the table. A migration inserted this row. */
const BY_ID = 'WHERE id = $1';

const UPDATE = `
  UPDATE studio_settings
  SET version = $2, support_refund_limits = $3, updated_at = $4, second_factor_required = $5
  WHERE id = $1`;

@Injectable()
export class StudioSettingsRepository {
  constructor(private readonly database: Database) {}

  async read(): Promise<StudioSettings> {
    return toSettings(await this.database.selectOne(StudioSettingsEntity, BY_ID, [SETTINGS_ID]));
  }

  async lock(): Promise<StudioSettings> {
    return toSettings(
      await this.database.selectOne(StudioSettingsEntity, `${BY_ID} FOR UPDATE`, [SETTINGS_ID]),
    );
  }

  async update(settings: StudioSettings): Promise<void> {
    const { version, supportRefundLimits, secondFactorRequired, updatedAt } = settings;
    const limits = [...supportRefundLimits].map(([currency, limit]) => [currency, String(limit)]);
    await this.database.query(UPDATE, [
      SETTINGS_ID,
      version,
      JSON.stringify(Object.fromEntries(limits)),
      updatedAt,
      secondFactorRequired,
    ]);
  }
}

function toSettings(row: StudioSettingsEntity | null): StudioSettings {
  if (row === null) throw new Error('The row of the studio settings is missing.');
  const limits = Object.entries(row.supportRefundLimits);
  return {
    ...row,
    supportRefundLimits: new Map(limits.map(([currency, limit]) => [currency, BigInt(limit)])),
  };
}
