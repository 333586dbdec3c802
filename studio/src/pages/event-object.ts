/** Returns the id of the object that an event is about. */
export function objectIdOf(data: { readonly object: object }): string | null {
  const id: unknown = (data.object as { readonly id?: unknown }).id;
  return typeof id === 'string' ? id : null;
}
