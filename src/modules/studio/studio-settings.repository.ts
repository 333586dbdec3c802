import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { SETTINGS_ID, type StudioSettings } from './domain/studio-settings';
import { StudioSettingsEntity } from './studio-settings.entity';

/** Selects the only row of the table. A migration inserted this row. */
const BY_ID = 'WHERE id = $1';

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
    const limits = [...settings.supportRefundLimits].map(
      ([currency, limit]) => [currency, String(limit)] as const,
    );
    await this.database.updateRevised(
      StudioSettingsEntity,
      { ...settings, supportRefundLimits: Object.fromEntries(limits) },
      ['supportRefundLimits', 'secondFactorRequired'],
    );
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
