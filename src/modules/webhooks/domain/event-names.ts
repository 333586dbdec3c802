/** As long as the name of an event can be. */
const LONGEST_NAME = 80;

/** `resource.happened`, `resource.*` or `*`. */
const NAME = /^(\*|[a-z][a-z0-9_]*\.(\*|[a-z][a-z0-9_]*))$/;

/** Whether the text has the form of a name an endpoint can subscribe to. Says nothing about whether there is such an event. */
export function isEventName(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LONGEST_NAME && NAME.test(text);
}

/** Whether a name an endpoint subscribed to stands for this type of event. */
export function covers(name: string, type: string): boolean {
  if (name === '*' || name === type) return true;
  return name.endsWith('.*') && type.startsWith(name.slice(0, -1));
}

/** The names that stand for no event of the catalogue, in the order given. `*` stands for whatever there will be. */
export function unknownNames(
  names: readonly string[],
  catalogue: readonly string[],
): readonly string[] {
  return names.filter((name) => name !== '*' && !catalogue.some((type) => covers(name, type)));
}
