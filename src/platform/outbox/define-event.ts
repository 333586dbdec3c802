import type { Type } from '@nestjs/common';

/** A type of event, and the DTO of the resource that its events are about. */
export interface DomainEvent<Resource, Dto extends { readonly id: string }> {
  /** `<resource>.<past tense>`. Must never change, because webhook endpoints subscribe to it by this name. */
  readonly type: string;
  /** States in one sentence when the event is sent. */
  readonly meaning: string;
  readonly dto: Type<Dto>;
  readonly toDto: (resource: Resource) => Dto;
  /** Fields whose values in the example event differ from those in the example of the resource. */
  readonly example?: Partial<Dto>;
}

export type EventDefinition = Pick<
  DomainEvent<unknown, { readonly id: string }>,
  'type' | 'meaning' | 'dto' | 'example'
>;

const definitions = new Map<string, EventDefinition>();

/**
 * Returns a function that defines one event type of a resource. The event catalogue and its documentation are generated
 * from the definitions.
 */
export function defineEvents<Resource, Dto extends { readonly id: string }>(
  dto: Type<Dto>,
  toDto: (resource: Resource) => Dto,
) {
  return (type: string, meaning: string, example?: Partial<Dto>): DomainEvent<Resource, Dto> => {
    if (definitions.has(type)) throw new Error(`The event ${type} is defined twice.`);
    const event = { type, meaning, dto, toDto, ...(example !== undefined && { example }) };
    definitions.set(type, event);
    return event;
  };
}

/** Returns the events defined by the modules loaded so far, sorted by type. */
export function allEvents(): readonly EventDefinition[] {
  return [...definitions.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** Returns an example of the webhook notification of an event type, for the documentation. */
export function exampleEvent(
  { type, example }: Pick<EventDefinition, 'type' | 'example'>,
  object: Readonly<Record<string, unknown>>,
): object {
  return {
    id: 'evt_01h455vb4pex5vsknk084sn02q',
    type,
    timestamp: '2026-03-01T09:30:00.000Z',
    sequence: 1,
    previous_sequence: null,
    actor: 'key_01h455vb4pex5vsknk084sn02q',
    data: { object: { ...object, ...example }, previous: {} },
  };
}
