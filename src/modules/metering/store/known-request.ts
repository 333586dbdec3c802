import { keyDigest } from './key-digest';
import type { KnownStream } from './known-streams';
import type { StreamName } from './staged-events';
import type { IncomingEvent } from './usage-store';
import { streamKey } from './usage-streams';

interface RequestStream extends KnownStream {
  readonly name: StreamName;
}

const QUOTED = /["\\]/g;

/** An element of an array, in the text format of PostgreSQL. */
function quoted(text: string): string {
  return `"${text.replace(QUOTED, '\\$&')}"`;
}

/**
 * The events of a request whose streams are known, as a statement takes them: in the text formats of PostgreSQL, which
 * `pg` would make of values at several times the cost, and while the request waits for its turn.
 */
export class KnownRequest {
  readonly streams: RequestStream[] = [];
  /** The place of each event in the request, which may hold more than events. */
  readonly indexes: number[] = [];
  /** Of each event its stream, as an index in `streams`. */
  readonly streamOf: number[] = [];
  readonly digests: string[] = [];
  readonly keys: string[] = [];
  readonly instants: string[] = [];
  readonly properties: string[] = [];

  /**
   * @param knownOf what is known of a stream
   * @returns null where an event of the request needs more than to be stored and counted, or may be refused
   */
  static of(
    events: readonly IncomingEvent[],
    knownOf: (name: StreamName) => KnownStream | undefined,
    lastInstant: Date,
  ): KnownRequest | null {
    const request = new KnownRequest();
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
    this.digests.push(keyDigest(idempotencyKey));
    this.keys.push(quoted(idempotencyKey));
    this.instants.push(timestamp.toISOString());
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
    const places = this.eachEvent((stream) => this.placeIn(stream));
    return [
      now,
      this.ids,
      this.versions,
      arrayOf([places]),
      arrayOf(this.requests.map(({ digests }) => digests)),
      arrayOf(this.requests.map(({ keys }) => keys)),
      arrayOf(this.requests.map(({ instants }) => instants)),
      this.properties,
    ];
  }

  /**
   * Of a statement that judges events from parameters.
   * @param positions of each stream the last one before these events
   */
  judgeParameters(now: Date, positions: readonly string[]): readonly unknown[] {
    const ids = this.eachEvent(({ id }) => id);
    const taken = this.eachEvent((stream, at) => {
      return String(BigInt(positions[this.placeIn(stream) - 1] ?? 0) + BigInt(at + 1));
    });
    return [
      now,
      null,
      arrayOf([ids]),
      ids.map((_, at) => at),
      arrayOf(this.requests.map(({ digests }) => digests)),
      arrayOf(this.requests.map(({ keys }) => keys)),
      arrayOf([taken]),
      arrayOf(this.requests.map(({ instants }) => instants)),
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
  private eachEvent<Value>(valueOf: (stream: KnownStream, at: number) => Value): Value[] {
    const values: Value[] = [];
    for (const { streams, streamOf } of this.requests) {
      for (const place of streamOf) {
        const stream = streams[place];
        if (stream !== undefined) values.push(valueOf(stream, values.length));
      }
    }
    return values;
  }

  private get properties(): string {
    return `[${this.requests.map(({ properties }) => properties.join(',')).join(',')}]`;
  }
}

/** Two requests may know different versions of a stream: what holds for the one says nothing about the other. */
function versionKey({ id, version }: KnownStream): string {
  return `${id} ${version}`;
}

/** An array in the text format of PostgreSQL, of elements that are in it already. */
function arrayOf(parts: readonly (readonly (string | number)[])[]): string {
  return `{${parts.map((part) => part.join(',')).join(',')}}`;
}
