/** Converts the text of a `datetime-local` field, read as UTC, to an instant. Returns null for an invalid text. */
export function toInstant(text: string): string | null {
  const at = Date.parse(`${text}Z`);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** Returns an instant as the text of a `datetime-local` field, in UTC. */
export function toInputText(instant: string): string {
  return instant.slice(0, 16);
}
