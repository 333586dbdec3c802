import { firstCharacters } from '../../../core/text';
import type { ProblemItem } from '../../../platform/errors';
import { isInstant, isLosslessJson, isStorable, isText, pointerTo } from '../../../platform/http';
import { isId } from '../../../platform/ids';
import type { Properties, UsageEvent } from '../domain/usage-event';

const MAX_PROPERTIES_BYTES = 16_384;
/**
 * Maximum number of values in `properties`. Each value takes at least two bytes: one of its own, and a comma or
 * bracket.
 */
const MAX_PROPERTIES_VALUES = MAX_PROPERTIES_BYTES / 2;
/** Maximum length of an unknown field's name in an error. A longer name is cut. */
const MAX_SHOWN_NAME = 100;

type Rule = readonly [
  field: string,
  isValid: (value: unknown) => boolean,
  code: string,
  message: string,
];

const RULES: readonly Rule[] = [
  [
    'idempotency_key',
    (value) => isText(value, 1, 255) && isStorable(value),
    'is_text',
    'must be text of 1 to 255 characters, without NUL or lone surrogates',
  ],
  [
    'customer_id',
    (value) => typeof value === 'string' && isId('cus', value),
    'is_id',
    'must be an id that starts with cus_',
  ],
  [
    'event_name',
    (value) => isText(value, 1, 100) && isStorable(value),
    'is_text',
    'must be text of 1 to 100 characters, without NUL or lone surrogates',
  ],
  [
    'timestamp',
    isInstant,
    'is_instant',
    'must be an RFC 3339 timestamp such as 2026-03-01T00:00:00.000Z',
  ],
  [
    'properties',
    (value) => value === undefined || isProperties(value),
    'is_properties',
    'must be an object of at most 16 KiB without NUL, lone surrogates, numbers beyond 2^53-1, negative zero, the key __proto__ or deep nesting',
  ],
];

const FIELDS: ReadonlySet<string> = new Set(RULES.map(([field]) => field));

/** Returns an event, or its faults if it is malformed. Validation by decorators would take fifty times as long. */
export function readUsageEvent(value: unknown): UsageEvent | readonly ProblemItem[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ pointer: '', code: 'is_object', message: 'must be an object' }];
  }
  const sent = value as Readonly<Record<string, unknown>>;
  const faults = faultsOf(sent);
  if (faults.length > 0) return faults;
  return {
    idempotencyKey: sent['idempotency_key'] as string,
    customerId: sent['customer_id'] as string,
    eventName: sent['event_name'] as string,
    timestamp: new Date(sent['timestamp'] as string),
    properties: (sent['properties'] ?? {}) as Properties,
  };
}

function faultsOf(sent: Readonly<Record<string, unknown>>): readonly ProblemItem[] {
  const faults: ProblemItem[] = [];
  for (const [field, isValid, code, message] of RULES) {
    const value = Object.hasOwn(sent, field) ? sent[field] : undefined;
    if (!isValid(value)) faults.push({ pointer: `/${field}`, code, message });
  }
  for (const field in sent) {
    if (!FIELDS.has(field)) {
      faults.push({
        pointer: pointerTo(firstCharacters(field, MAX_SHOWN_NAME), ''),
        code: 'unknown_field',
        message: 'is not a field of an event',
      });
      break;
    }
  }
  return faults;
}

function isProperties(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    isLosslessJson(value, { values: MAX_PROPERTIES_VALUES }) &&
    Buffer.byteLength(JSON.stringify(value)) <= MAX_PROPERTIES_BYTES
  );
}
