import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { newSecret } from '../../src/platform/access';
import { createTestDatabase, type TestDatabase } from '../support/databases';
import { committedDocument } from '../support/documented-answers';
import {
  type GeneratedRequest,
  KnownIds,
  randomFrom,
  RequestGenerator,
} from '../support/generated-requests';
import { BOOTSTRAP_KEY, WITH_KEYS } from '../support/keys';
import { RunningService } from '../support/running-service';
import { SEED } from '../support/seed';

/**
 * Sends requests made from the OpenAPI document, valid, nearly valid and hostile, with random credentials, to a service in
 * a process of its own. No answer may be a 5xx, and each must be as documented. The short form always runs, with 3,000
 * requests; `npm run campaign:requests` sends 100,000, or as many as `REQUESTS` says, and measures the memory of the service.
 * `SEED` repeats a run.
 */
const FULL = process.env['CAMPAIGN'] === 'full';
const REQUESTS = Number(process.env['REQUESTS'] ?? (FULL ? 100_000 : 3_000));
const TIME_LIMIT_MS = FULL ? 7_200_000 : 300_000;
const CLIENTS = 8;
const SAMPLES = 60;
/** Greatest growth of the memory between the second quarter of the requests and the last. */
const GREATEST_DRIFT = 1.1;

/** Memory of the service in bytes. */
interface Memory {
  readonly heap: number;
  readonly resident: number;
}

/** Returns the growth of a figure. Its least value in a quarter is the one closest to a collection. */
function driftOf(samples: readonly Memory[], figure: keyof Memory): number {
  const quarter = Math.floor(samples.length / 4);
  const least = (part: readonly Memory[]): number => Math.min(...part.map((one) => one[figure]));
  return least(samples.slice(-quarter)) / least(samples.slice(quarter, 2 * quarter));
}

describe('requests made from the OpenAPI document', () => {
  let database: TestDatabase;
  let service: RunningService;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await RunningService.start(database.url, {
      ...WITH_KEYS,
      ROLE: 'api',
      PAYMENT_PROVIDERS: 'sandbox,manual',
      // Addresses stay limited, so that some requests without a valid credential are answered with 429.
      RATE_LIMIT_PER_MINUTE: '0',
      RATE_LIMIT_USAGE_PER_MINUTE: '0',
      // A small heap is collected often enough to see what is left after a collection.
      ...(FULL ? { NODE_OPTIONS: '--max-old-space-size=320' } : {}),
    });
  });

  afterAll(async () => {
    await service.kill();
    await database.drop();
  });

  interface Answered {
    readonly status: number;
    readonly contentType: string;
    readonly text: string;
    readonly body: unknown;
  }

  async function send({ method, path, headers, body }: GeneratedRequest): Promise<Answered> {
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined || method === 'GET' || method === 'HEAD' ? {} : { body }),
    });
    const contentType = answer.headers.get('content-type') ?? '';
    const text = await answer.text();
    const isJson = /[/+]json/.test(contentType);
    return {
      status: answer.status,
      contentType,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  }

  function faultsOf(request: GeneratedRequest, answer: Answered): readonly string[] {
    const { method } = request;
    const path = new URL(request.path, service.url).pathname;
    const { status, contentType, body } = answer;
    const documented = committedDocument().faultsOf({ method, path, status, contentType, body });
    // On a busy machine the database may answer the readiness probe too late, as documented.
    const isLate = request.operationId === 'ready' && status === 503;
    return status >= 500 && !isLate ? [`the status is ${status}`, ...documented] : documented;
  }

  async function memory(): Promise<Memory> {
    const answer = await fetch(`${service.url}/metrics`, {
      headers: { Authorization: `Bearer ${BOOTSTRAP_KEY}` },
    });
    const text = await answer.text();
    const gauge = (name: string): number =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    return {
      heap: gauge('nodejs_heap_size_used_bytes'),
      resident: gauge('process_resident_memory_bytes'),
    };
  }

  it.each(['http://%@x/v1/session', 'http://xn--a`-`/v1/session', '//%@x#'])(
    'are refused if the target %s cannot be parsed, and the process goes on',
    async (target) => {
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname);
      socket.write(
        `POST ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello`,
      );
      const answer = await text(socket);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"code":"malformed_request"');
      expect((await service.get('/health/live')).status).toBe(200);
    },
  );

  it(
    `are answered as documented, without a 5xx (SEED=${SEED})`,
    async () => {
      const owner = `Bearer ${BOOTSTRAP_KEY}`;
      const ids = new KnownIds();
      const random = randomFrom(SEED);
      const authorized = new RequestGenerator(random, ids, [owner]);
      for (const operation of RequestGenerator.story()) {
        const request = authorized.valid(operation);
        const answer = await send({
          ...request,
          headers: { ...request.headers, Authorization: owner },
        });
        ids.remember(answer.body);
      }
      const limited = await service.post(
        '/v1/api-keys',
        { name: 'Limited', scopes: ['customers:read', 'usage:write'] },
        { Authorization: owner },
      );
      const { secret } = (await limited.json()) as { readonly secret: string };
      const revoked = await service.post(
        '/v1/api-keys',
        { name: 'Revoked', scopes: ['*'] },
        { Authorization: owner },
      );
      const former = (await revoked.json()) as { readonly id: string; readonly secret: string };
      await send({
        operationId: 'revokeApiKey',
        method: 'DELETE',
        path: `/v1/api-keys/${former.id}`,
        headers: { Authorization: owner },
        body: undefined,
      });
      const customer = await service.post(
        '/v1/customers',
        { name: 'Ada' },
        { Authorization: owner },
      );
      const { id: customerId } = (await customer.json()) as { readonly id: string };
      const issued = await service.post(
        `/v1/customers/${customerId}/tokens`,
        { scopes: ['entitlements:read', 'invoices:read'], expires_in_seconds: 86_400 },
        { Authorization: owner },
      );
      const { token } = (await issued.json()) as { readonly token: string };
      const credentials = [
        owner,
        undefined,
        `Bearer ${secret}`,
        `Bearer ${former.secret}`,
        `Bearer ${token}`,
        `Bearer ${newSecret('sk_live_')}`,
        'Bearer x',
        'Basic !!!',
        `Basic ${Buffer.from(`${BOOTSTRAP_KEY}:`).toString('base64')}`,
      ];
      const generator = new RequestGenerator(random, ids, credentials);
      const faults: unknown[] = [];
      const statuses = new Map<number, number>();
      const memories: Memory[] = [];
      let sent = 0;
      const client = async (): Promise<void> => {
        while (sent < REQUESTS && faults.length < 20) {
          sent += 1;
          if (sent % Math.floor(REQUESTS / SAMPLES) === 0) memories.push(await memory());
          const request = generator.next();
          // The key of the run must not revoke itself.
          if (request.method === 'DELETE' && request.path.startsWith('/v1/api-keys/')) continue;
          const answer = await send(request);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const found = faultsOf(request, answer);
          if (found.length > 0) faults.push({ request, found, answer: answer.text.slice(0, 500) });
          if (answer.status === 201) ids.remember(answer.body);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      const counts = [...statuses].sort(([one], [other]) => one - other).join('; ');
      const drift = { heap: driftOf(memories, 'heap'), resident: driftOf(memories, 'resident') };
      if (FULL) {
        const figures = { drift, memories: memories.map(({ heap, resident }) => [heap, resident]) };
        process.stdout.write(`answers by status: ${counts}\n${JSON.stringify(figures)}\n`);
      }
      expect(faults).toEqual([]);
      // A run whose requests are all refused would prove nothing.
      expect((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0)).toBeGreaterThan(REQUESTS / 10);
      if (!FULL) return;
      expect(drift.heap).toBeLessThan(GREATEST_DRIFT);
      expect(drift.resident).toBeLessThan(GREATEST_DRIFT);
    },
    TIME_LIMIT_MS,
  );
});
