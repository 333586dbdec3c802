export const MAX_EVENT_NAME_LENGTH = 80;

/** A name of visible ASCII characters without `*`, or such a name followed by `.*`, or `*` alone. */
export const EVENT_NAME = /^(\*|[!-)+-~]+(\.\*)?)$/;

/** Returns true if a value has the form of an event name or pattern. The event type need not exist. */
export function isEventName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= MAX_EVENT_NAME_LENGTH && EVENT_NAME.test(text);
}

export function matchesType(name: string, type: string): boolean {
  if (name === '*' || name === type) return true;
  return name.endsWith('.*') && type.startsWith(name.slice(0, -1));
}

/** Returns the names that match no event type in `catalogue`, in the given order. `*` always matches. */
export function unknownNames(
  names: readonly string[],
  catalogue: readonly string[],
): readonly string[] {
  return names.filter((name) => name !== '*' && !catalogue.some((type) => matchesType(name, type)));
}
