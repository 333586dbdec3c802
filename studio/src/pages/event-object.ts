import type { Schemas } from '../api/client';

/** Returns the id of the object that an event is about. */
export function objectIdOf({
  data,
  object_id: stored,
}: Pick<Schemas['EventDto'], 'data' | 'object_id'>): string | null {
  const id: unknown = data === null ? stored : data.object['id'];
  return typeof id === 'string' ? id : null;
}
