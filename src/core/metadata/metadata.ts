/** Free-form map that API clients set. The engine stores it and does not interpret it. */
export type Metadata = Readonly<Record<string, unknown>>;

export const METADATA_LIMITS = { keys: 50, bytes: 16 * 1024 } as const;

/** Returns true for a map within the limits: at most 50 keys and 16 KiB of UTF-8 JSON. */
export function isWithinMetadataLimits(value: unknown): value is Metadata {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length <= METADATA_LIMITS.keys &&
    utf8Length(JSON.stringify(value)) <= METADATA_LIMITS.bytes
  );
}

/**
 * Merges an update into stored metadata. A sent value replaces the stored value, even if both are maps; `null` deletes
 * the key.
 */
export function mergeMetadata(stored: Metadata, sent: Metadata | undefined): Metadata {
  if (sent === undefined) return stored;
  const merged = new Map(Object.entries(stored));
  for (const [key, value] of Object.entries(sent)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x1_0000 ? 3 : 4;
  }
  return bytes;
}
