type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Converts a value with bigints and instants to JSON, from which {@link fromJson} restores it. A bigint becomes
 * `{"$bigint": "12"}`, an instant `{"$instant": "2026-…"}`. Leaves out fields that are undefined.
 */
export function toJson(value: unknown): Json {
  if (typeof value === 'bigint') return { $bigint: value.toString() };
  if (value instanceof Date) return { $instant: value.toISOString() };
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, part]) => part !== undefined)
        .map(([key, part]) => [key, toJson(part)]),
    );
  }
  return value as Json;
}

/** Restores the value that {@link toJson} converted. The caller must know the type of the value. */
export function fromJson(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(fromJson);
  if (typeof json !== 'object' || json === null) return json;
  const entries = Object.entries(json);
  const [first] = entries;
  if (entries.length === 1 && first !== undefined && typeof first[1] === 'string') {
    if (first[0] === '$bigint') return BigInt(first[1]);
    if (first[0] === '$instant') return new Date(first[1]);
  }
  return Object.fromEntries(entries.map(([key, part]) => [key, fromJson(part)]));
}
