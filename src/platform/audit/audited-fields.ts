/** A resource as the API shows it (`object`), and the values that its changed fields had before (`previous`). */
export interface ShownChange {
  readonly object: object;
  readonly previous: object;
  readonly isNew?: boolean;
}

/** Value of a field before and after a change. `before` is absent for a new object. */
export interface FieldChange {
  readonly before?: unknown;
  readonly after: unknown;
}

type FieldChanges = Readonly<Record<string, FieldChange>>;

/** Maximum length of the JSON text of a stored value, in characters. */
const MAX_VALUE_LENGTH = 1_000;

/**
 * Names of fields that contain a secret or its hash. Resources have no such fields; the pattern guards against
 * mistakes. `password_scheme` and `password_changed_at` do not match, because they contain no secret.
 */
const SECRET =
  /secret|passw(?!ord_(?:scheme|changed_at)\b)|token|credential|authori[sz]ation|cookie|hash|recovery|private/i;

const IMPLIED: ReadonlySet<string> = new Set(['id', 'created_at', 'updated_at']);

/** Returns the fields that a change set, by name. A note replaces secrets and values above {@link MAX_VALUE_LENGTH}. */
export function auditedFields({ object, previous, isNew }: ShownChange): FieldChanges {
  const fields: Record<string, FieldChange> = {};
  if (isNew === true) {
    for (const name of Object.keys(object)) {
      const value: unknown = Reflect.get(object, name);
      if (value === null || value === undefined || IMPLIED.has(name)) continue;
      fields[name] = { after: shown(name, value) };
    }
    return fields;
  }
  for (const name of Object.keys(previous)) {
    const value: unknown = Reflect.get(previous, name);
    const after: unknown = Reflect.get(object, name);
    fields[name] = { before: shown(name, value), after: shown(name, after ?? null) };
  }
  return fields;
}

function shown(name: string, value: unknown): unknown {
  if (SECRET.test(name) && value !== null) return '(redacted)';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length > MAX_VALUE_LENGTH) return `(${text.length} characters, not stored)`;
  // Tests the JSON text, because it contains the names of nested fields.
  return SECRET.test(text) ? redacted(value) : value;
}

function redacted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(redacted);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      SECRET.test(name) && inner !== null ? '(redacted)' : redacted(inner),
    ]),
  );
}
