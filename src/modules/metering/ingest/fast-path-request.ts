import { BigIntegers, Instants, Integers, Texts, Uuids } from '../../../platform/database';
import type { IncomingEvent } from '../usage-store';
import { streamKey, type StreamName } from '../store/usage-streams';
import type { ChangedStreams } from '../store/window-changes';
import { keyDigest } from './key-digest';
import type { CachedStream } from './stream-cache';

interface RequestStream {
  readonly cached: CachedStream;
  readonly name: StreamName;
}

/** Events of one stream (one customer, one event name) in a request. */
interface StreamEvents {
  readonly cached: CachedStream | undefined;
  isPlain: boolean;
  /** True if an event may be in a registered window: a period with running totals of its own. */
  hasWindow: boolean;
  /**
   * Fast-path request that contains these events after the original request was split, and the index of their stream in
   * the fast-path request. Null before the split, and for events on the slow path.
   */
  target: { readonly request: FastPathRequest; readonly stream: number } | null;
}

export interface SplitRequest {
  /**
   * Parts for the fast path (one statement). They can be written concurrently, because no stream (one customer, one
   * event name) is in two parts.
   */
  readonly parts: readonly FastPathRequest[];
  /**
   * Events for the slow path (a transaction). Includes all events of a stream if it is not cached, or if one of its
   * events
   * - may be refused;
   * - is in a billed period;
   * - is in a month that is closed for the archive.
   */
  readonly rest: readonly IncomingEvent[];
}

/**
 * Part of a request for the fast path: its events of cached streams. A stream is the events of one name of one
 * customer.
 */
export class FastPathRequest {
  readonly events: IncomingEvent[] = [];
  readonly streams: RequestStream[] = [];
  /** For each event, the index of its stream in `streams`. */
  readonly streamOf: number[] = [];
  readonly digests: string[] = [];
  /** Properties of each event, as JSON. */
  readonly properties: string[] = [];

  private constructor(
    readonly shard: number,
    /** True if the events may be in registered windows: periods with running totals of their own. */
    readonly hasWindows: boolean,
  ) {}

  /**
   * Splits a request into parts for the fast path (one statement) and a rest for the slow path (a transaction). Each
   * shard has up to two parts: streams with events that may be in registered windows, and other streams. A registered
   * window is a period with running totals of its own. If a key occurs twice and the request has several streams, all
   * events take the slow path. The fast path could skip the first event with the key and store the second.
   * @param shards number of shards into which streams are divided
   * @param lastInstant events with a later timestamp may be refused, so they take the slow path
   */
  static split(
    events: readonly IncomingEvent[],
    shards: number,
    cachedOf: (name: StreamName) => CachedStream | undefined,
    lastInstant: Date,
  ): SplitRequest {
    const streams = streamsOf(events, cachedOf, lastInstant);
    const parts = new Map<string, FastPathRequest>();
    const rest: IncomingEvent[] = [];
    for (const [at, event] of events.entries()) {
      const stream = streams[at];
      const target = stream?.isPlain === true ? this.targetOf(stream, event, parts, shards) : null;
      if (target === null) rest.push(event);
      else target.request.add(event, target.stream);
    }
    const hasOneStream = streams.every((stream) => stream === streams[0]);
    if (!hasOneStream && hasRepeatedKeys(events)) return { parts: [], rest: events };
    return { parts: [...parts.values()], rest };
  }

  private static targetOf(
    stream: StreamEvents,
    event: IncomingEvent,
    parts: Map<string, FastPathRequest>,
    shards: number,
  ): StreamEvents['target'] {
    const { cached, hasWindow } = stream;
    if (stream.target !== null || cached === undefined) return stream.target;
    const shard = Number(cached.id) % shards;
    const part = `${shard} ${hasWindow}`;
    const request = parts.get(part) ?? new FastPathRequest(shard, hasWindow);
    parts.set(part, request);
    stream.target = { request, stream: request.addStream(cached, event) };
    return stream.target;
  }

  get length(): number {
    return this.events.length;
  }

  private addStream(cached: CachedStream, { customerId, eventName }: StreamName): number {
    return this.streams.push({ cached, name: { customerId, eventName } }) - 1;
  }

  private add(event: IncomingEvent, stream: number): void {
    this.events.push(event);
    this.streamOf.push(stream);
    this.digests.push(keyDigest(event.idempotencyKey));
    this.properties.push(JSON.stringify(event.properties));
  }
}

/** Requests that are written with one statement. Numbers their streams (one customer, one event name) from 1. */
export class FastPathBatch {
  /** `numbers[r][s]` is the number of stream `s` of request `r` among all streams of the batch. */
  private readonly numbers: readonly (readonly number[])[];
  private readonly ids: string[] = [];
  private readonly versions: string[] = [];
  private readonly eventNames: string[] = [];

  readonly length: number;

  constructor(readonly requests: readonly FastPathRequest[]) {
    this.length = requests.reduce((sum, { length }) => sum + length, 0);
    // Two requests may have cached different versions of a stream. Each version has its own number.
    const numbers = new Map<string, number>();
    this.numbers = requests.map(({ streams }) =>
      streams.map(({ cached: { id, version }, name }) => {
        const key = `${id} ${version}`;
        const known = numbers.get(key);
        if (known !== undefined) return known;
        this.versions.push(version);
        this.eventNames.push(name.eventName);
        const number = this.ids.push(id);
        numbers.set(key, number);
        return number;
      }),
    );
  }

  get hasWindows(): boolean {
    return this.requests.some(({ hasWindows }) => hasWindows);
  }

  /**
   * Returns the streams that were not skipped and have events that may be in registered windows (periods with running
   * totals of their own).
   * @param positions as in {@link notTried}; null if all events were stored
   */
  changedStreams(positions: readonly (string | null)[] | null): ChangedStreams {
    const customers = new Map<string, string>();
    let [earliestMs, latestMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const [request, { hasWindows, streams, events }] of this.requests.entries()) {
      if (!hasWindows) continue;
      for (const [stream, { cached, name }] of streams.entries()) {
        const number = this.numbers[request]?.[stream] ?? 0;
        if (positions?.[number - 1] !== null) customers.set(cached.id, name.customerId);
      }
      for (const { timestamp } of events) {
        earliestMs = Math.min(earliestMs, timestamp.getTime());
        latestMs = Math.max(latestMs, timestamp.getTime());
      }
    }
    return { customers, earliestAt: new Date(earliestMs), latestAt: new Date(latestMs) };
  }

  appendParameters(now: Date): readonly unknown[] {
    const numbers = new Integers(this.length);
    const nths = new Integers(this.length);
    this.eachEvent((number, _, nth) => {
      numbers.add(number);
      nths.add(nth);
    });
    return [
      now,
      new BigIntegers(this.ids.length).addAll(this.ids).toBuffer(),
      new BigIntegers(this.versions.length).addAll(this.versions).toBuffer(),
      numbers.toBuffer(),
      this.digests(),
      this.keys(),
      this.instants(),
      this.properties,
      new Texts(this.eventNames.length).addAll(this.eventNames).toBuffer(),
      nths.toBuffer(),
    ];
  }

  /**
   * Returns the indexes of the events whose stream was skipped.
   * @param positions for each stream, the number of its last event before the append; null for a skipped stream
   */
  notTried(positions: readonly (string | null)[]): readonly number[] {
    const indexes: number[] = [];
    this.eachEvent((number, index) => {
      if (positions[number - 1] === null) indexes.push(index);
    });
    return indexes;
  }

  /**
   * Returns the parameters of the statement `ON_PARAMETERS.classify`, which reads why events were not stored.
   * @param positions as in {@link notTried}
   */
  classifyParameters(now: Date, positions: readonly (string | null)[]): readonly unknown[] {
    const ids: (string | undefined)[] = [];
    const wanted: bigint[] = [];
    const refusals: (string | null)[] = [];
    this.eachEvent((number, _, nth) => {
      const position = positions[number - 1] ?? null;
      ids.push(this.ids[number - 1]);
      wanted.push(BigInt(position ?? 0) + BigInt(nth));
      refusals.push(position === null ? 'busy' : null);
    });
    return [
      now,
      null,
      ids,
      ids.map((_, index) => index),
      this.digests(),
      this.keys(),
      wanted,
      this.instants(),
      refusals,
      this.properties,
    ];
  }

  /**
   * Returns true if all streams of a request are among `numbers`.
   * @param request index of the request in the batch
   */
  isWithin(request: number, numbers: ReadonlySet<number>): boolean {
    return (this.numbers[request] ?? []).every((number) => numbers.has(number));
  }

  namesWithout(numbers: ReadonlySet<number>): readonly StreamName[] {
    return this.requests.flatMap(({ streams }, request) =>
      streams
        .filter((_, stream) => !numbers.has(this.numbers[request]?.[stream] ?? 0))
        .map(({ name }) => name),
    );
  }

  /**
   * Calls `visit` for each event.
   * @param visit gets the number of the stream, the index of the event in the batch, and the number of the event within
   *   its stream, from 1
   */
  private eachEvent(visit: (number: number, index: number, nth: number) => void): void {
    const counts: number[] = [];
    let index = 0;
    for (const [request, { streamOf }] of this.requests.entries()) {
      const numbers = this.numbers[request] ?? [];
      for (const stream of streamOf) {
        const number = numbers[stream] ?? 0;
        const nth = (counts[number] ?? 0) + 1;
        counts[number] = nth;
        visit(number, index, nth);
        index += 1;
      }
    }
  }

  private digests(): Buffer {
    const digests = new Uuids(this.length);
    for (const request of this.requests) digests.addAll(request.digests);
    return digests.toBuffer();
  }

  private keys(): Buffer {
    const keys = new Texts(this.length);
    for (const { events } of this.requests) {
      for (const { idempotencyKey } of events) keys.add(idempotencyKey);
    }
    return keys.toBuffer();
  }

  private instants(): Buffer {
    const instants = new Instants(this.length);
    for (const { events } of this.requests) {
      for (const { timestamp } of events) instants.add(timestamp);
    }
    return instants.toBuffer();
  }

  private get properties(): string {
    return `[${this.requests.map(({ properties }) => properties.join(',')).join(',')}]`;
  }
}

function streamsOf(
  events: readonly IncomingEvent[],
  cachedOf: (name: StreamName) => CachedStream | undefined,
  lastInstant: Date,
): readonly StreamEvents[] {
  const streams = new Map<string, StreamEvents>();
  return events.map((event) => {
    const key = streamKey(event);
    let stream = streams.get(key);
    if (stream === undefined) {
      const cached = cachedOf(event);
      stream = { cached, isPlain: cached !== undefined, hasWindow: false, target: null };
      streams.set(key, stream);
    }
    const { openFromMs = Infinity, windowsEndMs = Infinity } = stream.cached ?? {};
    const atMs = event.timestamp.getTime();
    if (atMs < openFromMs || event.timestamp > lastInstant) stream.isPlain = false;
    if (atMs < windowsEndMs) stream.hasWindow = true;
    return stream;
  });
}

function hasRepeatedKeys(events: readonly IncomingEvent[]): boolean {
  return new Set(events.map(({ idempotencyKey }) => idempotencyKey)).size < events.length;
}
