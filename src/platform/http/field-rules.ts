import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { isISO31661Alpha2, Matches, registerDecorator, ValidateIf } from 'class-validator';
import { METADATA_LIMITS, isWithinMetadataLimits } from '../../core/metadata';
import { isCurrency } from '../../core/money';
import { isTimeZone } from '../../core/time';
import { type IdPrefix, isId } from '../ids';
import { FreeForm } from './free-form';

/** The field is optional. `null` is not allowed. */
export function Omittable(): PropertyDecorator {
  return ValidateIf((_: object, value: unknown) => value !== undefined);
}

/** The field is optional. `null` is allowed and clears the field. */
export function Nullable(): PropertyDecorator {
  return ValidateIf((_: object, value: unknown) => value !== undefined && value !== null);
}

/** The field is required, and can be `null`. */
export function RequiredOrNull(): PropertyDecorator {
  return ValidateIf((_: object, value: unknown) => value !== null);
}

function rule(
  name: string,
  test: (value: unknown) => boolean,
  message: string,
  options: { readonly each?: true } = {},
): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(property),
      options: { message, ...options },
      validator: { validate: (value: unknown) => test(value) },
    });
  };
}

/**
 * Requires a text of `min` to `max` characters. Counts code points, as PostgreSQL does. class-validator's `Length`
 * ignores variation selectors, so it would accept a text that is too long for the column.
 */
export function IsText(
  min: number,
  max: number,
  options: { readonly each?: true } = {},
): PropertyDecorator {
  return rule(
    'isText',
    (value) => isText(value, min, max),
    `must be text of ${min} to ${max} characters`,
    options,
  );
}

export function isText(value: unknown, min: number, max: number): value is string {
  if (typeof value !== 'string' || value.length < min) return false;
  // There are never more code points than code units.
  if (value.length <= max && min <= 1) return true;
  const { length } = Array.from(value);
  return length >= min && length <= max;
}

/** Requires an id with the prefix of a kind of resource. The resource need not exist. */
export function IsIdOf(
  prefix: IdPrefix,
  options: { readonly each?: true } = {},
): PropertyDecorator {
  return rule(
    'isId',
    (value) => typeof value === 'string' && isId(prefix, value),
    `must be an id that starts with ${prefix}_`,
    options,
  );
}

/** Form of a country code. Not all codes of this form are countries. */
export const COUNTRY_TEXT = /^[A-Z]{2}$/;

export function IsCountry(): PropertyDecorator {
  return rule(
    'isCountry',
    (value) => typeof value === 'string' && COUNTRY_TEXT.test(value) && isISO31661Alpha2(value),
    'must be an ISO 3166-1 alpha-2 country code in upper case',
  );
}

/** Requires a number of `min` or more. Accepts values that are not numbers, because another rule refuses them. */
export function IsAtLeast(min: number): PropertyDecorator {
  return rule(
    'min',
    (value) => typeof value !== 'number' || value >= min,
    `$property must not be less than ${min}`,
  );
}

/** Requires a number of `max` or less. Accepts values that are not numbers, because another rule refuses them. */
export function IsAtMost(max: number): PropertyDecorator {
  return rule(
    'max',
    (value) => typeof value !== 'number' || value <= max,
    `$property must not be greater than ${max}`,
  );
}

export function IsMinorUnits(min: number): PropertyDecorator {
  return rule(
    'isMinorUnits',
    (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= min,
    `must be a whole number of minor units from ${min} to 9007199254740991`,
  );
}

/** Form of a currency code. Not all codes of this form are currencies. */
export const CURRENCY_TEXT = /^[A-Z]{3}$/;

/** Requires the ISO 4217 code of a currency that has minor units. */
export function IsCurrency(): PropertyDecorator {
  return rule(
    'isCurrency',
    (value) => typeof value === 'string' && isCurrency(value),
    'must be an ISO 4217 currency code in upper case',
  );
}

/** Requires a list without duplicates. `ArrayUnique` of class-validator takes seconds for a long list. */
export function HasNoRepeats(): PropertyDecorator {
  return rule(
    'arrayUnique',
    (value) => Array.isArray(value) && new Set<unknown>(value).size === value.length,
    'must not hold the same item twice',
  );
}

/** Non-negative decimal number as text, with at most 20 digits before and 12 after the point. */
export const DECIMAL_TEXT = /^(0|[1-9]\d{0,19})(\.\d{1,12})?$/;

/** A key that the client chooses: printable ASCII. */
export const KEY_TEXT = /^[\x20-\x7e]{1,255}$/;

/** An `Idempotency-Key`, in the header or in a body. It has no spaces at its ends, because HTTP would drop them. */
export const HEADER_KEY_TEXT = /^[!-~](?:[ -~]{0,253}[!-~])?$/;

export function IsDecimal(): PropertyDecorator {
  return Matches(DECIMAL_TEXT, {
    message:
      'must be a decimal string such as "10.625", not negative, with at most 20 digits before and 12 after the point',
  });
}

/** First and last year of a range, both inclusive, in UTC. */
export type YearRange = readonly [first: number, last: number];

/**
 * Requires an RFC 3339 instant with an offset from UTC. The instant must be in the years 1 to 9999 in UTC, because RFC
 * 3339 has no later years and PostgreSQL has no year 0.
 * @param years narrower range of accepted years
 */
export function IsInstant(years?: YearRange): PropertyDecorator {
  const message = 'must be an RFC 3339 timestamp such as 2026-03-01T00:00:00.000Z';
  if (years === undefined) return rule('isInstant', isInstant, message);
  const [first, last] = years;
  const isWithin = (value: unknown): boolean => {
    if (!isInstant(value)) return false;
    const year = new Date(value).getUTCFullYear();
    return year >= first && year <= last;
  };
  return rule('isInstant', isWithin, `${message}, in the years ${first} to ${last}`);
}

const FIRST_INSTANT_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_INSTANT_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Form of an RFC 3339 instant. Excludes the hour 24, because `Date` would read 24:00:00 as the next day. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

export function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !RFC_3339.test(value)) return false;
  const instantMs = Date.parse(value);
  return instantMs >= FIRST_INSTANT_MS && instantMs <= LAST_INSTANT_MS && isExistingDate(value);
}

/** Returns false for dates such as 2026-02-30, which `Date` would read as 2 March. */
function isExistingDate(value: string): boolean {
  const isInEveryMonth = value.slice(8, 10) <= '28';
  const date = value.slice(0, 10);
  return isInEveryMonth || new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

/** Form of the name of a time zone. Not all names of this form are time zones. */
export const TIME_ZONE_TEXT = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;

/** Requires an IANA time zone that this runtime knows. */
export function IsTimeZone(): PropertyDecorator {
  return rule('isTimeZone', isTimeZoneName, 'must be an IANA time zone such as Europe/Paris');
}

function isTimeZoneName(value: unknown): boolean {
  if (typeof value !== 'string' || !TIME_ZONE_TEXT.test(value)) return false;
  return isTimeZone(value);
}

/** Requires a free-form map within the size limits. The map is stored as it was sent (see {@link FreeForm}). */
export function IsMetadata(): PropertyDecorator {
  return applyDecorators(
    Transform(({ obj, key }: { obj: object; key: string }) =>
      FreeForm.sentIn(Reflect.get(obj, key)),
    ),
    rule(
      'isMetadata',
      isWithinMetadataLimits,
      `must be an object of at most ${METADATA_LIMITS.keys} keys and ${METADATA_LIMITS.bytes} bytes`,
    ),
  );
}
