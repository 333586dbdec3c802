import { ArrayElements, Instants, Integers, Texts, Uuids } from '../../../platform/database';
import type { IncomingEvent } from '../usage-store';
import { streamKey, type StreamName } from '../store/usage-streams';
import { keyDigest } from './key-digest';
import type { CachedStream } from './stream-cache';

interface RequestStream extends CachedStream {
  readonly name: StreamName;
}

/** Destination of a stream's events: a part of the request, and the index of the stream in that part. */
interface Target {
  readonly request: FastPathRequest;
  readonly stream: number;
}

/**
 * Events of a request whose streams are all cached, encoded as parameters of a statement. The encoding happens while the
 * request waits for its commit.
 */
export class FastPathRequest {
  /** Events of this part, in order; the request may have more. */
  readonly events: IncomingEvent[] = [];
  readonly streams: RequestStream[] = [];
  /** Index in `streams` of the stream of each event. */
  readonly streamOf: number[] = [];
  readonly digests: Uuids;
  readonly keys: Texts;
  readonly instants: Instants;
  /** As JSON. */
  readonly properties: string[] = [];

  private constructor(
    readonly shard: number,
    expectedEvents: number,
  ) {
    this.digests = new Uuids(expectedEvents);
    this.keys = new Texts(expectedEvents);
    this.instants = new Instants(expectedEvents);
  }

  /**
   * Splits a request into at most one part per shard. Parts share no stream and can be written concurrently.
   * @param shards number of shards that streams are divided into
   * @param cachedOf returns the cached state of a stream
   * @returns null if an event may need the transaction of the slow path or may be refused; also if a key occurs twice in
   *   different parts, because the first occurrence in the request is to be stored
   */
  static partsOf(
    events: readonly IncomingEvent[],
    shards: number,
    cachedOf: (name: StreamName) => CachedStream | undefined,
    lastInstant: Date,
  ): readonly FastPathRequest[] | null {
    const parts = new Map<number, FastPathRequest>();
    const targets = new Map<string, Target>();
    const keys = new Set<string>();
    for (const event of events) {
      const key = streamKey(event);
      let target = targets.get(key);
      if (target === undefined) {
        const cached = cachedOf(event);
        if (cached === undefined) return null;
        const shard = Number(BigInt(cached.id) % BigInt(shards));
        const request =
          parts.get(shard) ?? new FastPathRequest(shard, Math.ceil(events.length / shards));
        parts.set(shard, request);
        target = { request, stream: request.addStream(cached, event) };
        targets.set(key, target);
      }
      const { request, stream } = target;
      const plainFromMs = request.streams[stream]?.plainFromMs ?? Infinity;
      if (event.timestamp.getTime() < plainFromMs || event.timestamp > lastInstant) return null;
      request.add(event, stream);
      if (shards > 1) keys.add(event.idempotencyKey);
    }
    if (parts.size > 1 && keys.size < events.length) return null;
    return [...parts.values()];
  }

  get length(): number {
    return this.events.length;
  }

  private addStream(cached: CachedStream, { customerId, eventName }: StreamName): number {
    return this.streams.push({ ...cached, name: { customerId, eventName } }) - 1;
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

/** Requests that are written together with one statement. Numbers their streams from 1. */
export class FastPathBatch {
  private readonly numbers = new Map<string, number>();
  private readonly ids: string[] = [];
  private readonly versions: string[] = [];

  constructor(readonly requests: readonly FastPathRequest[]) {
    for (const { streams } of requests) {
      for (const stream of streams) {
        const key = versionKey(stream);
        if (this.numbers.has(key)) continue;
        this.versions.push(stream.version);
        this.numbers.set(key, this.ids.push(stream.id));
      }
    }
  }

  get length(): number {
    return this.requests.reduce((sum, { length }) => sum + length, 0);
  }

  /** Returns the parameters of `FAST_PATH_APPEND`. */
  appendParameters(now: Date): readonly unknown[] {
    const numbers = new Integers(this.length);
    this.eachEvent((stream) => numbers.add(this.numberOf(stream)));
    return [
      now,
      this.ids,
      this.versions,
      ArrayElements.join([numbers]),
      this.digests,
      this.keys,
      this.instants,
      this.properties,
    ];
  }

  /**
   * Returns the parameters of `ON_PARAMETERS.classify`.
   * @param positions last position of each stream before these events
   */
  classifyParameters(now: Date, positions: readonly string[]): readonly unknown[] {
    const ids: string[] = [];
    const wanted: bigint[] = [];
    this.eachEvent((stream, index) => {
      ids.push(stream.id);
      wanted.push(BigInt(positions[this.numberOf(stream) - 1] ?? 0) + BigInt(index + 1));
    });
    return [
      now,
      null,
      ids,
      ids.map((_, index) => index),
      this.digests,
      this.keys,
      wanted,
      this.instants,
      ids.map(() => null),
      this.properties,
    ];
  }

  /** Returns true if the numbers of all streams of the request are among these. */
  isWithin({ streams }: FastPathRequest, numbers: ReadonlySet<number>): boolean {
    return streams.every((stream) => numbers.has(this.numberOf(stream)));
  }

  /** Returns the streams whose numbers are not among these. */
  namesWithout(numbers: ReadonlySet<number>): readonly StreamName[] {
    const streams = this.requests.flatMap((request) => request.streams);
    return streams.filter((one) => !numbers.has(this.numberOf(one))).map(({ name }) => name);
  }

  private numberOf(stream: CachedStream): number {
    return this.numbers.get(versionKey(stream)) ?? 0;
  }

  /** Visits events in the order of the requests. */
  private eachEvent(visit: (stream: CachedStream, index: number) => void): void {
    let index = 0;
    for (const { streams, streamOf } of this.requests) {
      for (const at of streamOf) {
        const stream = streams[at];
        if (stream !== undefined) visit(stream, index);
        index += 1;
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

/** Two requests may have cached different versions of a stream; each version has its own number. */
function versionKey({ id, version }: CachedStream): string {
  return `${id} ${version}`;
}
