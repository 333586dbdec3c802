import { SETTING_NAMES, type SettingName, type SettingsReader } from './settings-reader';

/** Settings that decide if other settings have an effect. Null: switched off, or not set. */
interface DecidingSettings {
  readonly auth: 'open' | 'required';
  readonly databaseUrl: string | null;
  readonly encryptionKeys: readonly unknown[] | null;
  readonly stripe: object | null;
  readonly usageArchive: object | null;
  readonly openId: object | null;
}

interface Condition {
  readonly names: readonly SettingName[];
  readonly reason: string;
  readonly appliesTo: (configuration: DecidingSettings) => boolean;
}

const startingWith = (prefix: string): readonly SettingName[] =>
  SETTING_NAMES.filter((name) => name.startsWith(prefix));

/**
 * Conditions under which settings have no effect in any process. Conditions do not depend on `ROLE`, because processes
 * with different roles often share one file of settings.
 */
const CONDITIONS: readonly Condition[] = [
  {
    names: startingWith('STRIPE_'),
    reason: 'PAYMENT_PROVIDERS does not name stripe',
    appliesTo: ({ stripe }) => stripe === null,
  },
  {
    names: ['PUBLIC_URL', ...startingWith('OIDC_')],
    reason: 'OIDC_ISSUER is not set',
    appliesTo: ({ openId }) => openId === null,
  },
  {
    names: ['USAGE_ARCHIVE_DIRECTORY'],
    reason: 'USAGE_RETENTION_MONTHS is not set',
    appliesTo: ({ usageArchive }) => usageArchive === null,
  },
  {
    names: ['AUTH_OPEN_ACKNOWLEDGED'],
    reason: 'AUTH is "required"',
    appliesTo: ({ auth }) => auth === 'required',
  },
  {
    names: ['PUBLIC_DOCS'],
    reason: 'AUTH is "open"',
    appliesTo: ({ auth }) => auth === 'open',
  },
  {
    names: ['DATA_DIR'],
    reason: 'DATABASE_URL and ENCRYPTION_KEYS are set',
    appliesTo: ({ databaseUrl, encryptionKeys }) => databaseUrl !== null && encryptionKeys !== null,
  },
];

/** Returns the settings that are set but have no effect because of other settings, each with the reason. */
export function ineffectiveSettings(
  settings: SettingsReader,
  configuration: DecidingSettings,
): readonly string[] {
  return CONDITIONS.filter(({ appliesTo }) => appliesTo(configuration)).flatMap(
    ({ names, reason }) =>
      names.filter((name) => settings.isSet(name)).map((name) => `${name}: ${reason}`),
  );
}
