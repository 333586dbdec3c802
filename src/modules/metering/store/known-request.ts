import { ArrayElements, Instants, Integers, Texts, Uuids } from '../../../platform/database';
import { keyDigest } from './key-digest';
import type { KnownStream } from './known-streams';
import type { StreamName } from './staged-events';
import type { IncomingEvent } from './usage-store';
import { streamKey } from './usage-streams';

interface RequestStream extends KnownStream {
  readonly name: StreamName;
}

/**
 * The events of a request whose streams are known, as a statement takes them: in the formats of PostgreSQL, made while the
 * request waits for its turn.
 */
export class KnownRequest {
  readonly streams: RequestStream[] = [];
  /** The place of each event in the request, which may hold more than events. */
  readonly indexes: number[] = [];
  /** Of each event its stream, as an index in `streams`. */
  readonly streamOf: number[] = [];
  readonly digests: Uuids;
  readonly keys: Texts;
  readonly instants: Instants;
  /** As JSON. */
  readonly properties: string[] = [];

  private constructor(events: number) {
    this.digests = new Uuids(events);
    this.keys = new Texts(events);
    this.instants = new Instants(events);
  }

  /**
   * @param knownOf what is known of a stream
   * @returns null where an event of the request needs more than to be stored and counted, or may be refused
   */
  static of(
    events: readonly IncomingEvent[],
    knownOf: (name: StreamName) => KnownStream | undefined,
    lastInstant: Date,
  ): KnownRequest | null {
    const request = new KnownRequest(events.length);
    const places = new Map<string, number>();
    for (const event of events) {
      const key = streamKey(event);
      let place = places.get(key);
      if (place === undefined) {
        const known = knownOf(event);
        if (known === undefined) return null;
        const { customerId, eventName } = event;
        place = request.streams.push({ ...known, name: { customerId, eventName } }) - 1;
        places.set(key, place);
      }
      const stream = request.streams[place];
      const isPlain = stream !== undefined && event.timestamp.getTime() >= stream.plainFromMs;
      if (!isPlain || event.timestamp > lastInstant) return null;
      request.add(event, place);
    }
    return request;
  }

  get length(): number {
    return this.streamOf.length;
  }

  private add(event: IncomingEvent, place: number): void {
    const { index, idempotencyKey, timestamp, properties } = event;
    this.indexes.push(index);
    this.streamOf.push(place);
    this.digests.add(keyDigest(idempotencyKey));
    this.keys.add(idempotencyKey);
    this.instants.add(timestamp);
    this.properties.push(JSON.stringify(properties));
  }
}

/** Requests that are written together. */
export class KnownRequests {
  private readonly placeOf = new Map<string, number>();
  private readonly ids: string[] = [];
  private readonly versions: string[] = [];

  constructor(readonly requests: readonly KnownRequest[]) {
    for (const { streams } of requests) {
      for (const stream of streams) {
        const known = versionKey(stream);
        if (this.placeOf.has(known)) continue;
        this.versions.push(stream.version);
        this.placeOf.set(known, this.ids.push(stream.id));
      }
    }
  }

  get length(): number {
    return this.requests.reduce((sum, { length }) => sum + length, 0);
  }

  /** Of `RECORD_KNOWN`. */
  recordParameters(now: Date): readonly unknown[] {
    const places = new Integers(this.length);
    this.eachEvent((stream) => places.add(this.placeIn(stream)));
    return [
      now,
      this.ids,
      this.versions,
      ArrayElements.join([places]),
      this.digests,
      this.keys,
      this.instants,
      this.properties,
    ];
  }

  /**
   * Of a statement that judges events from parameters.
   * @param positions of each stream the last one before these events
   */
  judgeParameters(now: Date, positions: readonly string[]): readonly unknown[] {
    const ids: string[] = [];
    const taken: bigint[] = [];
    this.eachEvent((stream, at) => {
      ids.push(stream.id);
      taken.push(BigInt(positions[this.placeIn(stream) - 1] ?? 0) + BigInt(at + 1));
    });
    return [
      now,
      null,
      ids,
      ids.map((_, at) => at),
      this.digests,
      this.keys,
      taken,
      this.instants,
      ids.map(() => null),
      this.properties,
    ];
  }

  /** Whether the places of its streams are all among these. */
  isWithin({ streams }: KnownRequest, places: ReadonlySet<number>): boolean {
    return streams.every((stream) => places.has(this.placeIn(stream)));
  }

  /** The streams whose places are not among these. */
  namesWithout(places: ReadonlySet<number>): readonly StreamName[] {
    const streams = this.requests.flatMap((request) => request.streams);
    return streams.filter((one) => !places.has(this.placeIn(one))).map(({ name }) => name);
  }

  private placeIn(stream: KnownStream): number {
    return this.placeOf.get(versionKey(stream)) ?? 0;
  }

  /** In the order of the requests and of their events. */
  private eachEvent(take: (stream: KnownStream, at: number) => void): void {
    let at = 0;
    for (const { streams, streamOf } of this.requests) {
      for (const place of streamOf) {
        const stream = streams[place];
        if (stream !== undefined) take(stream, at);
        at += 1;
      }
    }
  }

  private get digests(): Buffer {
    return ArrayElements.join(this.requests.map(({ digests }) => digests));
  }

  private get keys(): Buffer {
    return ArrayElements.join(this.requests.map(({ keys }) => keys));
  }

  private get instants(): Buffer {
    return ArrayElements.join(this.requests.map(({ instants }) => instants));
  }

  private get properties(): string {
    return `[${this.requests.map(({ properties }) => properties.join(',')).join(',')}]`;
  }
}

/** Two requests may know different versions of a stream: what holds for the one says nothing about the other. */
function versionKey({ id, version }: KnownStream): string {
  return `${id} ${version}`;
}
