import type { Setting } from './setting';
import { SETTINGS } from './settings';

/** Thrown at startup for the first missing, invalid or contradictory setting, which the message names. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

export type Environment = Readonly<Record<string, string | undefined>>;

export type SettingName = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];
type ValueOf<Name extends SettingName> =
  (typeof SETTINGS)[Name] extends Setting<infer Value> ? Value : never;

export class SettingsReader {
  /** Contains secrets, so the field is private (`#`), and does not appear in a printed configuration. */
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /**
   * Returns the value of a setting. If it is not set, returns its fallback, or null if it has none.
   * @throws {ConfigurationError} for an invalid value
   */
  optional<Name extends SettingName>(name: Name): ValueOf<Name> | null {
    const setting = SETTINGS[name] as Setting<ValueOf<Name>>;
    const text = this.#environment[name] ?? setting.fallback;
    if (text === undefined) return null;
    const value = setting.parse(text);
    if (value === undefined) {
      const shown = setting.isSecret === true ? 'something else (not shown)' : JSON.stringify(text);
      throw new ConfigurationError(
        `${name} is ${shown}, but must be ${setting.accepts.replaceAll('`', '')}.`,
      );
    }
    return value;
  }

  /**
   * Checks every setting, even one that this process never reads because of other settings.
   * @param except settings that are not checked
   * @throws {ConfigurationError} for an invalid value
   */
  requireValid(except: readonly SettingName[]): void {
    for (const name of SETTING_NAMES) if (!except.includes(name)) this.optional(name);
  }

  isSet(name: SettingName): boolean {
    return this.#environment[name] !== undefined;
  }

  /** @throws {ConfigurationError} if the value is invalid, or if the setting is not set and has no fallback */
  required<Name extends SettingName>(name: Name): ValueOf<Name> {
    const value = this.optional(name);
    if (value === null) throw new ConfigurationError(`${name} must be set.`);
    return value;
  }
}
