import { STORY } from '../../src/openapi/story';
import { OPERATIONS as DOCUMENTED, type Parameter } from './example-requests';

/**
 * Requests that are generated from the OpenAPI document: valid, nearly valid or hostile. The same seed gives the same
 * requests.
 */

export interface GeneratedRequest {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly example: unknown;
}

const OPERATIONS: readonly Operation[] = DOCUMENTED.map(
  ({ method, path, operation: { operationId, parameters = [], requestBody } }) => ({
    operationId,
    method: method.toUpperCase(),
    path,
    parameters,
    example: requestBody?.content['application/json']?.example,
  }),
);

/** Values that break assumptions about type, range, length, encoding or time. */
const STRANGE: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  '1.0000000000001',
  '\u0000',
  '\ud800',
  '\u202e\u{1f980}',
  "' OR 1=1 --",
  '${jndi:ldap://x}',
  '../../etc/passwd',
  'a'.repeat(5_000),
  '9'.repeat(400),
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '2026-02-30T00:00:00Z',
  '2026-03-01T00:00:00+14:00',
  0,
  -1,
  1,
  0.1,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e308,
  [],
  [null],
  {},
  { a: { b: { c: [] } } },
  { $ne: null },
  { ['__proto__']: { isAdmin: true } },
  Array.from({ length: 200 }, () => 1),
];

const HOSTILE_BODIES: readonly string[] = [
  '{',
  '[]',
  'null',
  '"text"',
  '{"a":1,"a":2}',
  '{"amount":1e999}',
  '{"name":"\\ud800"}',
  '{"name":"\\u0000"}',
  '['.repeat(2_000),
  `{"a":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
  `{"metadata":{${Array.from({ length: 60 }, (_, index) => `"k${index}":"v"`).join()}}}`,
  '\ufeff{}',
  '<xml/>',
];

const STRANGE_QUERIES: readonly string[] = [
  'limit=0',
  'limit=-1',
  'limit=101',
  'limit=1&limit=2',
  'limit[]=1',
  'cursor=x',
  'cursor=%00',
  'cursor=%ff%fe',
  'customer_id=cus_1',
  'from=2026-02-30T00:00:00Z',
  'from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z',
  'type=*',
  'unknown=1',
  'preview=maybe',
  '__proto__=1',
];

const STRANGE_IDS: readonly string[] = [
  'x',
  '%00',
  '%20',
  '%2e%2e%2f',
  '%f0%9f%a6%80',
  "'%3bDROP",
  'a'.repeat(300),
];

const STRANGE_HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'If-Match': 'W/"1"' },
  { 'If-Match': '"999999999"' },
  { 'If-Match': 'garbage' },
  { 'Idempotency-Key': 'x'.repeat(256) },
  { 'Idempotency-Key': 'one-key-for-everything' },
  { 'Content-Type': 'text/plain' },
  { 'Content-Type': 'application/json; charset=utf-16' },
  { 'Content-Type': 'application/x-ndjson' },
  { 'Content-Encoding': 'gzip' },
  { 'Content-Encoding': 'br' },
  { 'X-Request-Id': "'; DROP TABLE event" },
  { 'X-Forwarded-For': '127.0.0.1' },
  { Origin: 'https://evil.example' },
];

/** Ids of the resources made so far, by prefix. */
export class KnownIds {
  private readonly byPrefix = new Map<string, string[]>();

  /** Remembers the ids in an answer. */
  remember(body: unknown): void {
    if (typeof body !== 'object' || body === null) return;
    const { id } = body as { readonly id?: unknown };
    if (typeof id !== 'string') return;
    const prefix = id.split('_')[0] ?? '';
    const ids = this.byPrefix.get(prefix) ?? [];
    // Keeps only a few ids of each type, so that requests use resources that earlier requests have changed.
    if (ids.length >= 20) ids.shift();
    this.byPrefix.set(prefix, [...ids, id]);
  }

  /** Replaces the ids of examples with ids of real resources. */
  fillIn(text: string, pick: <Item>(items: readonly Item[]) => Item | undefined): string {
    return text.replaceAll(
      /([a-z]+)_01h455vb4pex5vsknk084sn02q/g,
      (example, prefix: string) => pick(this.byPrefix.get(prefix) ?? []) ?? example,
    );
  }
}

/** Returns a generator of pseudo-random numbers from 0 to 1 (mulberry32). The same seed gives the same numbers. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class RequestGenerator {
  constructor(
    private readonly random: () => number,
    private readonly ids: KnownIds,
    /** Values of the `Authorization` header; undefined: no header. */
    private readonly credentials: readonly (string | undefined)[],
  ) {}

  /** Returns the operations of the documented story (`src/openapi/story`). A new engine accepts them in this order. */
  static story(): readonly Operation[] {
    return STORY.flatMap(({ operationId }) =>
      OPERATIONS.filter((operation) => operation.operationId === operationId),
    );
  }

  next(): GeneratedRequest {
    const operation = this.pick(OPERATIONS);
    if (operation === undefined) throw new Error('The document has no operations.');
    const kind = this.random();
    const request = this.valid(operation);
    // Most requests need a valid credential: otherwise they are refused before anything else is tested.
    const authorization = this.random() < 0.8 ? this.credentials[0] : this.pick(this.credentials);
    const headers: Readonly<Record<string, string>> =
      authorization === undefined ? {} : { Authorization: authorization };
    const made =
      kind < 0.35 ? request : kind < 0.75 ? this.nearlyValid(request) : this.hostile(request);
    return { ...made, headers: { ...headers, ...made.headers } };
  }

  valid({ operationId, method, path, parameters, example }: Operation): GeneratedRequest {
    const filled = parameters
      .filter((parameter) => parameter.in === 'path')
      .reduce(
        (text, { name, example: id = 'x' }) => text.replace(`{${name}}`, encodeURIComponent(id)),
        path,
      );
    const pick = <Item>(items: readonly Item[]): Item | undefined => this.pick(items);
    const body = example === undefined ? undefined : this.ids.fillIn(JSON.stringify(example), pick);
    return {
      operationId,
      method,
      path: this.ids.fillIn(filled, pick),
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      // Codes and keys are unique, so that examples can be sent again.
      body: body?.replaceAll(
        /"(code|key|idempotency_key|external_id)":"([^"]+)"/g,
        (_, name: string, value: string) =>
          `"${name}":"${value}${this.random() < 0.5 ? '' : `-${Math.floor(this.random() * 1e9)}`}"`,
      ),
    };
  }

  private nearlyValid(request: GeneratedRequest): GeneratedRequest {
    if (request.body === undefined) return this.withQuery(request);
    const body = JSON.parse(request.body) as Record<string, unknown>;
    const changes = 1 + Math.floor(this.random() * 2);
    for (let change = 0; change < changes; change += 1) this.disturb(body);
    return { ...request, body: JSON.stringify(body) };
  }

  private hostile(request: GeneratedRequest): GeneratedRequest {
    const choice = this.random();
    if (choice < 0.3 && request.body !== undefined) {
      return { ...request, body: this.pick(HOSTILE_BODIES) };
    }
    if (choice < 0.5) {
      return { ...request, headers: { ...request.headers, ...this.pick(STRANGE_HEADERS) } };
    }
    if (choice < 0.7) return this.withQuery(request);
    if (choice < 0.9) {
      const path = request.path.replace(/[a-z]+_[0-9a-z]{26}/, this.pick(STRANGE_IDS) ?? 'x');
      return { ...request, path };
    }
    const method = this.pick(['PUT', 'OPTIONS', 'PATCH', 'DELETE', 'POST']) ?? 'PUT';
    return { ...request, method };
  }

  private withQuery(request: GeneratedRequest): GeneratedRequest {
    return { ...request, path: `${request.path}?${this.pick(STRANGE_QUERIES) ?? ''}` };
  }

  /** Replaces, removes or adds one value at a random depth. */
  private disturb(target: Record<string, unknown>): void {
    const names = Object.keys(target);
    const name = this.pick(names);
    const value = name === undefined ? undefined : target[name];
    if (typeof value === 'object' && value !== null && this.random() < 0.5) {
      this.disturb(value as Record<string, unknown>);
      return;
    }
    const choice = this.random();
    // A copy, because a later change may disturb the value itself.
    const strange = structuredClone(this.pick(STRANGE));
    if (name === undefined || choice < 0.1) target['unknown_field'] = strange;
    else if (choice < 0.25) Reflect.deleteProperty(target, name);
    else target[name] = strange;
  }

  private pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.random() * items.length)];
  }
}
