import { type Agent, request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { OnApplicationShutdown } from '@nestjs/common';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { PRODUCT } from '../product';
import { isAllowedAddress } from './addresses';
import { exchange, type OutboundAnswer, type Send } from './exchange';
import { TargetError, OutboundError } from './outbound-error';
import type { HostResolver } from './resolver';
import { addressFault, findTargetFault, hostOf, type OutboundPolicy, portOf } from './target';

export interface OutboundRequest {
  readonly url: string;
  /** Headers in addition to `User-Agent`, `Content-Type` and `Content-Length`. They can replace the first two. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly deadlineMs: number;
  readonly keepBytes: number;
}

type Connection = Parameters<Send>[0];

const RESOLVING_MS = 5_000;
const RESOLVING_AT_REGISTRATION_MS = 2_000;
/** Time after which the next address of a host is tried. Node's 250 ms are too short for distant hosts. */
const CONNECTING_TO_ONE_ADDRESS_MS = 2_000;
/**
 * Time after which an idle connection is closed. It is shorter than the 5 s after which many servers close idle
 * connections, because a request is lost if it is sent while the server closes the connection.
 */
const IDLE_MS = 4_000;
const MAX_IDLE_CONNECTIONS_TO_A_HOST = 64;
const MAX_HEADER_BYTES = 16_384;
const USER_AGENT = `${PRODUCT.name}/${PRODUCT.version}`;

/** Sends requests to URLs that customers or other services have chosen, under the policy described in the README. */
export class OutboundHttp implements OnApplicationShutdown {
  /** Connection pools, by scheme, and by whether connections are kept alive. */
  private readonly agents: Readonly<Record<'http' | 'https', Readonly<Record<Connection, Agent>>>>;

  constructor(
    private readonly policy: OutboundPolicy,
    private readonly resolver: HostResolver,
  ) {
    const options = {
      timeout: IDLE_MS,
      maxFreeSockets: MAX_IDLE_CONNECTIONS_TO_A_HOST,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: CONNECTING_TO_ONE_ADDRESS_MS,
      lookup: this.lookup,
      allowPrivateIPAddress: this.policy.allowPrivateNetworks,
      // Ignores proxies of the environment, which future versions of Node may use by default.
      proxyEnv: null,
    };
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
    const secure = { ...options, rejectUnauthorized: true };
    this.agents = {
      http: {
        kept: new RequestFilteringHttpAgent({ ...options, keepAlive: true }),
        new: new RequestFilteringHttpAgent({ ...options, keepAlive: false }),
      },
      https: {
        kept: new RequestFilteringHttpsAgent({ ...secure, keepAlive: true }),
        new: new RequestFilteringHttpsAgent({ ...secure, keepAlive: false }),
      },
    };
  }

  /**
   * Sends a POST and returns its answer, whatever its status. Does not follow redirects. The request may arrive twice
   * (see `exchange`).
   * @throws {OutboundError} when no answer arrived
   */
  post(request: OutboundRequest): Promise<OutboundAnswer> {
    return this.send(request, request.body);
  }

  /** Sends a GET. Otherwise like `post`. */
  get(request: Omit<OutboundRequest, 'body'>): Promise<OutboundAnswer> {
    return this.send(request, null);
  }

  private async send(
    request: Omit<OutboundRequest, 'body'>,
    body: string | Buffer | null,
  ): Promise<OutboundAnswer> {
    const { url, fault } = this.read(request.url);
    if (fault !== null) throw new OutboundError('blocked', 0, { detail: `the URL ${fault}` });
    const isSecure = url.protocol === 'https:';
    const agents = isSecure ? this.agents.https : this.agents.http;
    const options: RequestOptions = {
      method: body === null ? 'GET' : 'POST',
      host: hostOf(url),
      port: portOf(url),
      path: `${url.pathname}${url.search}`,
      headers: {
        'User-Agent': USER_AGENT,
        ...(body !== null && { 'Content-Type': 'application/json' }),
        ...request.headers,
        ...(body !== null && { 'Content-Length': String(Buffer.byteLength(body)) }),
      },
      maxHeaderSize: MAX_HEADER_BYTES,
    };
    const start = isSecure ? requestHttps : requestHttp;
    const send: Send = (connection) => start({ ...options, agent: agents[connection] });
    return exchange(send, body ?? '', request);
  }

  /**
   * Returns the rule ("must …") that forbids the use of a URL as a target; null if the URL is allowed. Resolves the
   * host name and checks all its addresses. Accepts a name that cannot be resolved now, because every call checks the
   * addresses again. Does not resolve the name if private networks are allowed, so that offline development does not
   * wait for a name server.
   */
  async checkTarget(text: string): Promise<string | null> {
    const { url, fault } = this.read(text);
    if (fault !== null) return fault;
    const host = hostOf(url);
    if (isIP(host) !== 0 || this.policy.allowPrivateNetworks) return null;
    try {
      await this.resolveAllowed(host, RESOLVING_AT_REGISTRATION_MS);
      return null;
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      return error.reason === 'blocked' ? addressFault(this.policy) : null;
    }
  }

  /** Closes all connections. Calls in flight fail with the reason `reset`. */
  close(): void {
    for (const { kept, new: others } of Object.values(this.agents)) {
      kept.destroy();
      others.destroy();
    }
  }

  /** Runs after due work has finished, because due work may use the connections until then. */
  onApplicationShutdown(): void {
    this.close();
  }

  private read(text: string): { url: URL; fault: string | null } {
    if (!URL.canParse(text)) return { url: new URL('invalid:'), fault: 'must be a valid URL' };
    const url = new URL(text);
    return { url, fault: findTargetFault(url, this.policy) };
  }

  /** Resolves the host of a socket and checks its addresses, so that the socket connects only to allowed addresses. */
  private readonly lookup: LookupFunction = (host, options, callback) => {
    this.resolveAllowed(host, RESOLVING_MS).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first] = found;
        if (options.all === true) callback(null, found);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: unknown) => callback(error as TargetError, ''),
    );
  };

  /** @throws {TargetError} when the name has no addresses, or has an address that is not allowed */
  private async resolveAllowed(host: string, limitMs: number): Promise<readonly string[]> {
    let addresses: readonly string[];
    try {
      addresses = await this.resolver.resolve(host, limitMs);
    } catch (cause) {
      throw new TargetError('dns', 'The name could not be resolved.', { cause });
    }
    if (addresses.length === 0) throw new TargetError('dns', 'The name has no addresses.');
    const { allowPrivateNetworks } = this.policy;
    if (!addresses.every((address) => isAllowedAddress(address, allowPrivateNetworks))) {
      throw new TargetError('blocked', `the URL ${addressFault(this.policy)}`);
    }
    return addresses;
  }
}
