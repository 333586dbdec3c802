/** Settings of the studio, which owners change. */
export interface StudioSettings {
  readonly id: string;
  readonly version: number;
  /** Largest sum of a payment that admins with the role support may refund, in minor units by currency. */
  readonly supportRefundLimits: ReadonlyMap<string, bigint>;
  readonly updatedAt: Date;
}

/** Id of the only settings. */
export const SETTINGS_ID = 'studio_settings';

/** Fields that an update replaces. */
export type SettingsChange = Pick<StudioSettings, 'supportRefundLimits'>;

/** Returns the changed settings, or the same object for a no-op change. */
export function withSettings(
  settings: StudioSettings,
  { supportRefundLimits }: SettingsChange,
  now: Date,
): StudioSettings {
  if (isSame(supportRefundLimits, settings.supportRefundLimits)) return settings;
  return { ...settings, supportRefundLimits, version: settings.version + 1, updatedAt: now };
}

function isSame(one: ReadonlyMap<string, bigint>, other: ReadonlyMap<string, bigint>): boolean {
  return (
    one.size === other.size && [...one].every(([currency, limit]) => other.get(currency) === limit)
  );
}
