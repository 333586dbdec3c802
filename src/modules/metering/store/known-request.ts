import { ArrayElements, Instants, Integers, Texts, Uuids } from '../../../platform/database';
import { keyDigest } from './key-digest';
import type { KnownStream } from './known-streams';
import type { StreamName } from './staged-events';
import type { IncomingEvent } from './usage-store';
import { streamKey } from './usage-streams';

interface RequestStream extends KnownStream {
  readonly name: StreamName;
}

interface Place {
  readonly request: KnownRequest;
  readonly stream: number;
}

/**
 * Events of a request whose streams are known, as a statement takes them: in the formats of PostgreSQL, made while the
 * request waits for its turn.
 */
export class KnownRequest {
  /** In their order; the request may hold more than these. */
  readonly events: IncomingEvent[] = [];
  readonly streams: RequestStream[] = [];
  /** Of each event its stream, as an index in `streams`. */
  readonly streamOf: number[] = [];
  readonly digests: Uuids;
  readonly keys: Texts;
  readonly instants: Instants;
  /** As JSON. */
  readonly properties: string[] = [];

  private constructor(
    readonly share: number,
    expected: number,
  ) {
    this.digests = new Uuids(expected);
    this.keys = new Texts(expected);
    this.instants = new Instants(expected);
  }

  /**
   * The request in parts that share no stream, and can be written at the same time.
   * @param shares into how many shares all streams are divided; of each there is one part at the most
   * @param knownOf what is known of a stream
   * @returns null where an event of the request needs more than to be stored and counted, or may be refused; and where parts
   * share a key, of which the first in the request is the one to be stored
   */
  static partsOf(
    events: readonly IncomingEvent[],
    shares: number,
    knownOf: (name: StreamName) => KnownStream | undefined,
    lastInstant: Date,
  ): readonly KnownRequest[] | null {
    const parts = new Map<number, KnownRequest>();
    const places = new Map<string, Place>();
    const keys = new Set<string>();
    for (const event of events) {
      const key = streamKey(event);
      let place = places.get(key);
      if (place === undefined) {
        const known = knownOf(event);
        if (known === undefined) return null;
        const share = Number(BigInt(known.id) % BigInt(shares));
        const request =
          parts.get(share) ?? new KnownRequest(share, Math.ceil(events.length / shares));
        parts.set(share, request);
        place = { request, stream: request.addStream(known, event) };
        places.set(key, place);
      }
      const { request, stream } = place;
      const plainFromMs = request.streams[stream]?.plainFromMs ?? Infinity;
      if (event.timestamp.getTime() < plainFromMs || event.timestamp > lastInstant) return null;
      request.add(event, stream);
      if (shares > 1) keys.add(event.idempotencyKey);
    }
    if (parts.size > 1 && keys.size < events.length) return null;
    return [...parts.values()];
  }

  get length(): number {
    return this.events.length;
  }

  private addStream(known: KnownStream, { customerId, eventName }: StreamName): number {
    return this.streams.push({ ...known, name: { customerId, eventName } }) - 1;
  }

  private add(event: IncomingEvent, stream: number): void {
    this.events.push(event);
    this.streamOf.push(stream);
    this.digests.add(keyDigest(event.idempotencyKey));
    this.keys.add(event.idempotencyKey);
    this.instants.add(event.timestamp);
    this.properties.push(JSON.stringify(event.properties));
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
