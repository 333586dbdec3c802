import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Account, API_VERSION } from './account';
import { checkParameters } from './check-parameters';
import { invalidRequest, Refusal } from './errors';
import { expanded } from './expand';
import { type Fault, type Faults } from './faults';
import { decodeForm, type FormValue } from './form';
import { type Answered, IdempotencyKeys } from './idempotency';
import { type Operation, OPERATIONS } from './operations';
import { type OperationName } from './parameters';

/** One request, for the assertions of tests. */
export interface RecordedRequest {
  readonly id: string;
  readonly operation: OperationName;
  readonly path: string;
  readonly key: string | null;
  readonly parameters: Readonly<Record<string, FormValue>>;
  readonly fault: Fault | null;
  /** 0 if no response was sent, because of a fault or because the client has disconnected. */
  status: number;
  replayed: boolean;
}

interface Route {
  readonly operation: OperationName;
  readonly id: string;
}

const ROUTES = Object.entries(OPERATIONS).map(([name, { route }]) => ({
  operation: name as OperationName,
  pattern: new RegExp(`^${route.replace('{id}', '([^/]+)')}$`),
}));

const SERVER_ERROR: Answered = {
  status: 500,
  body: {
    error: {
      type: 'api_error',
      message: 'An unknown error occurred. (A fault of the test double.)',
    },
  },
};

/** Answers HTTP requests as Stripe's API does. */
export class StripeServer {
  readonly requests: RecordedRequest[] = [];
  /** Requests that a correct client never sends: an unknown URL or key, or parameters that Stripe's types do not allow. */
  readonly refused: string[] = [];
  /** Errors of the double itself. */
  readonly defects: unknown[] = [];
  /** False: responses have no `Date` header, as through a proxy that removes it. */
  sendsDate = true;
  private readonly keys = new IdempotencyKeys();
  private readonly server: Server;
  private closed = false;

  constructor(
    private readonly account: Account,
    private readonly faults: Faults,
    private readonly secretKey: string,
  ) {
    this.server = createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        this.defects.push(error);
        response.destroy();
      });
    });
  }

  /** Listens on a port, by default a free one. Can be called again after `close`, to simulate an outage. */
  async listen(port = 0): Promise<number> {
    this.closed = false;
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Refuses new connections, and drops the requests that hang. */
  async close(): Promise<void> {
    this.closed = true;
    this.faults.release();
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await received(request);
    if (body === null) return;
    const url = new URL(request.url ?? '/', 'http://stripe');
    const id = this.account.newId('req');
    response.setHeader('request-id', id);
    response.sendDate = this.sendsDate;
    if (this.sendsDate) response.setHeader('date', new Date(this.account.nowMs).toUTCString());
    try {
      this.authorize(request);
      const route = this.route(request.method ?? '', url.pathname);
      const form = decodeForm(request.method === 'POST' ? formBody(request, body) : url.search);
      const key = request.method === 'POST' ? headerOf(request, 'idempotency-key') : null;
      const fault = this.faults.take(route.operation);
      const record: RecordedRequest = {
        id,
        operation: route.operation,
        path: url.pathname,
        key,
        parameters: form,
        fault,
        status: 0,
        replayed: false,
      };
      this.requests.push(record);
      if (fault === 'reset_before') {
        response.destroy();
        return;
      }
      const answered = await this.execute(record, route, form);
      if (answered === null || fault === 'hang_after') return;
      if (fault === 'reset_after') {
        response.destroy();
        return;
      }
      if (fault === 'answer_held') await this.faults.hang();
      if (typeof fault === 'object' && fault !== null && 'text' in fault) {
        response.writeHead(fault.status).end(fault.text);
        return;
      }
      if (response.destroyed) return;
      record.status = answered.status;
      if (key !== null) response.setHeader('idempotency-key', key);
      if (record.replayed) response.setHeader('idempotent-replayed', 'true');
      send(response, answered);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const record = this.requests.findLast((each) => each.id === id);
      if (record) record.status = error.status;
      else this.refused.push(`${request.method ?? ''} ${url.pathname}: ${error.message}`);
      send(response, refusalAnswer(error));
    }
  }

  /** Executes a request, or returns its stored response. Returns null if the server was closed while the request hung. */
  private async execute(
    record: RecordedRequest,
    route: Route,
    form: Record<string, FormValue>,
  ): Promise<Answered | null> {
    const { key, fault } = record;
    refuseBusy(fault);
    const fingerprint = JSON.stringify([record.path, form]);
    const stored = key === null ? null : this.keys.stored(key, fingerprint, this.account.nowMs);
    if (stored) {
      record.replayed = true;
      return stored;
    }
    const run = this.prepared(route, form);
    if (key !== null) this.keys.begin(key, fingerprint, this.account.nowMs);
    if (fault === 'hang_before') {
      await this.faults.hang();
      if (this.closed) {
        if (key !== null) this.keys.drop(key);
        return null;
      }
    }
    this.account.runDue();
    const result = fault === 'error_500_before' ? SERVER_ERROR : this.run(record, run);
    const answered = fault === 'error_500_after' ? SERVER_ERROR : result;
    if (key !== null) this.keys.finish(key, answered);
    return answered;
  }

  /**
   * Checks the parameters, and returns a function that executes the request. Wrong parameters do not use up the
   * idempotency key.
   */
  private prepared({ operation, id }: Route, form: Record<string, FormValue>): () => object {
    try {
      const parameters = checkParameters(operation, structuredClone(form));
      const { run } = OPERATIONS[operation] as Operation<OperationName>;
      const paths = 'expand' in parameters ? parameters.expand : [];
      return () => expanded(this.account, run(this.account, id, parameters), paths);
    } catch (error) {
      if (error instanceof Refusal) this.refused.push(`${operation}: ${error.message}`);
      throw error;
    }
  }

  private run(record: RecordedRequest, run: () => object): Answered {
    this.account.request = { id: record.id, idempotency_key: record.key };
    try {
      if (record.fault instanceof Refusal) throw record.fault;
      return { status: 200, body: run() };
    } catch (error) {
      if (error instanceof Refusal) return refusalAnswer(error);
      this.defects.push(error);
      return SERVER_ERROR;
    } finally {
      this.account.request = null;
    }
  }

  private authorize(request: IncomingMessage): void {
    const [scheme, credentials = ''] = (headerOf(request, 'authorization') ?? '').split(' ');
    const key =
      scheme === 'Basic'
        ? Buffer.from(credentials, 'base64').toString().split(':')[0]
        : credentials;
    if (key !== this.secretKey) {
      throw invalidRequest(`Invalid API Key provided: ${String(key).slice(0, 8)}***`, {}, 401);
    }
    const version = headerOf(request, 'stripe-version');
    if (version !== API_VERSION) {
      throw invalidRequest(
        `The test double of Stripe speaks only API version ${API_VERSION}, not ${version ?? 'the default of an account'}.`,
      );
    }
  }

  private route(method: string, path: string): Route {
    for (const { operation, pattern } of ROUTES) {
      const match = pattern.exec(`${method} ${path}`);
      if (match) return { operation, id: decodeURIComponent(match[1] ?? '') };
    }
    throw invalidRequest(
      `Unrecognized request URL (${method}: ${path}). The test double of Stripe implements only some operations.`,
      {},
      404,
    );
  }
}

/** Returns the body of a request; null if the client disconnected while sending it. */
async function received(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(chunks).toString();
}

function formBody(request: IncomingMessage, body: string): string {
  const type = headerOf(request, 'content-type') ?? '';
  if (body !== '' && !type.startsWith('application/x-www-form-urlencoded')) {
    throw invalidRequest(
      `Invalid request: the body must be application/x-www-form-urlencoded, not ${type}.`,
    );
  }
  return body;
}

function refuseBusy(fault: Fault | null): void {
  if (fault === 'rate_limited') {
    throw invalidRequest('Request rate limit exceeded.', { code: 'rate_limit' }, 429);
  }
  if (fault === 'lock_timeout') {
    throw invalidRequest(
      'This object cannot be accessed right now because another API request or Stripe process is currently accessing it.',
      { code: 'lock_timeout' },
      429,
    );
  }
  if (fault === 'not_found') throw invalidRequest('Unrecognized request URL.', {}, 404);
  if (fault === 'conflict') {
    throw new Refusal(409, {
      type: 'idempotency_error',
      code: 'idempotency_key_in_use',
      message: 'There is currently another in-progress request using this Idempotent Key.',
    });
  }
}

function refusalAnswer({ status, body }: Refusal): Answered {
  return { status, body: { error: body } };
}

function send(response: ServerResponse, { status, body }: Answered): void {
  const json = JSON.stringify(body, null, 2);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(json),
      'stripe-version': API_VERSION,
    })
    .end(json);
}

function headerOf(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}
