import type { Type } from '@nestjs/common';

/** A kind of event, and how the resource it is about is shown. */
export interface DomainEvent<Resource, Dto extends { readonly id: string }> {
  /** `<resource>.<what happened>`, past tense. Stable: endpoints subscribe to it. */
  readonly type: string;
  /** When it is sent, in a sentence. */
  readonly meaning: string;
  /** The class that describes the resource as the API shows it. */
  readonly dto: Type<Dto>;
  readonly toDto: (resource: Resource) => Dto;
  /** What in its example differs from the example of the resource. */
  readonly example?: Partial<Dto>;
}

/** What the catalogue says of a kind of event. */
export type EventDefinition = Pick<
  DomainEvent<unknown, { readonly id: string }>,
  'type' | 'meaning' | 'dto' | 'example'
>;

const definitions = new Map<string, EventDefinition>();

/** Defines a kind of event once; the catalogue and its documentation are made from the definitions. */
export function defineEvent<Resource, Dto extends { readonly id: string }>(
  event: DomainEvent<Resource, Dto>,
): DomainEvent<Resource, Dto> {
  if (definitions.has(event.type)) throw new Error(`The event ${event.type} is defined twice.`);
  definitions.set(event.type, event);
  return event;
}

/** Every event defined by the modules loaded so far, by type. */
export function allEvents(): readonly EventDefinition[] {
  return [...definitions.values()].sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** What a notification of this kind looks like, for the documentation. */
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
    data: { object: { ...object, ...example }, previous: {} },
  };
}
