import { type Agent, request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { Configuration } from '../config';
import { isAllowedAddress } from './addresses';
import { exchange, type OutboundAnswer, type Send } from './exchange';
import { NoTargetError, OutboundError } from './outbound-error';
import { HostResolver } from './resolver';
import { faultOfAddress, faultOfTarget, hostOf, type OutboundPolicy, portOf } from './target';
import { USER_AGENT } from './user-agent';

export interface OutboundRequest {
  readonly url: string;
  /** Beside `User-Agent`, `Content-Type` and `Content-Length`; the first two can be replaced. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For the whole call, whatever happens in it. */
  readonly deadlineMs: number;
  /** How much of the answer's body is wanted. */
  readonly keepBytes: number;
}

type Connection = Parameters<Send>[0];

const RESOLVING_MS = 5_000;
const RESOLVING_AT_REGISTRATION_MS = 2_000;
/** Before the next address of a host is tried. The default of 250 ms is less than the way to the other side of the world. */
const CONNECTING_TO_ONE_ADDRESS_MS = 2_000;
/** Below the 5 s after which many servers close: a request on a connection that is being closed is lost. */
const IDLE_MS = 4_000;
const MOST_CONNECTIONS_TO_A_HOST = 256;
const MOST_IDLE_CONNECTIONS_TO_A_HOST = 64;
const MOST_HEADER_BYTES = 16_384;

/** Calls to addresses that customers name. See the README. */
@Injectable()
export class OutboundHttp implements OnApplicationShutdown {
  private readonly policy: OutboundPolicy;
  /** By scheme, for connections that are kept and those that are not. */
  private readonly agents: Readonly<Record<'http' | 'https', Readonly<Record<Connection, Agent>>>>;

  constructor(
    configuration: Configuration,
    private readonly resolver: HostResolver,
  ) {
    this.policy = {
      allowPrivateNetworks: configuration.webhooksAllowPrivateNetworks,
      allowedPorts: configuration.webhooksAllowedPorts,
    };
    const options = {
      timeout: IDLE_MS,
      maxSockets: MOST_CONNECTIONS_TO_A_HOST,
      maxFreeSockets: MOST_IDLE_CONNECTIONS_TO_A_HOST,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: CONNECTING_TO_ONE_ADDRESS_MS,
      lookup: this.lookup,
      allowPrivateIPAddress: this.policy.allowPrivateNetworks,
      // Node may come to give each agent the proxy of the environment unless told not to.
      proxyEnv: null,
    };
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED=0 does not decide it.
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
   * Sends a POST and returns its answer, whatever its status: a redirect is an answer, and is not followed. It may arrive
   * twice (see `exchange`).
   * @throws {OutboundError} when no answer came
   */
  async post(request: OutboundRequest): Promise<OutboundAnswer> {
    const { url, fault } = this.read(request.url);
    if (fault !== null) throw new OutboundError('blocked', 0, { detail: `the URL ${fault}` });
    const isSecure = url.protocol === 'https:';
    const agents = isSecure ? this.agents.https : this.agents.http;
    const options: RequestOptions = {
      method: 'POST',
      host: hostOf(url),
      port: portOf(url),
      path: `${url.pathname}${url.search}`,
      headers: {
        'User-Agent': USER_AGENT,
        'Content-Type': 'application/json',
        ...request.headers,
        'Content-Length': String(Buffer.byteLength(request.body)),
      },
      maxHeaderSize: MOST_HEADER_BYTES,
    };
    const start = isSecure ? requestHttps : requestHttp;
    const send: Send = (connection) => start({ ...options, agent: agents[connection] });
    return exchange(send, request.body, request);
  }

  /**
   * Why a URL cannot be registered as a target ("must …"), or null. A host name is resolved, and all its addresses have to
   * be allowed; one that cannot be resolved now is accepted, because every call looks again. Where private networks are
   * allowed hardly any address is not, and nobody who works offline has to wait for a name server.
   */
  async checkTarget(text: string): Promise<string | null> {
    const { url, fault } = this.read(text);
    if (fault !== null) return fault;
    const host = hostOf(url);
    if (isIP(host) !== 0 || this.policy.allowPrivateNetworks) return null;
    try {
      await this.allowedAddressesOf(host, RESOLVING_AT_REGISTRATION_MS);
      return null;
    } catch (error) {
      if (!(error instanceof NoTargetError)) throw error;
      return error.reason === 'blocked' ? faultOfAddress(this.policy) : null;
    }
  }

  /** Closes all connections; calls that still run end with `reset`. */
  close(): void {
    for (const { kept, new: others } of Object.values(this.agents)) {
      kept.destroy();
      others.destroy();
    }
  }

  /** After due work has finished, which may be in the middle of a call until then. */
  onApplicationShutdown(): void {
    this.close();
  }

  private read(text: string): { url: URL; fault: string | null } {
    if (!URL.canParse(text)) return { url: new URL('invalid:'), fault: 'must be a valid URL' };
    const url = new URL(text);
    return { url, fault: faultOfTarget(url, this.policy) };
  }

  /** What a socket asks for the addresses of its host, and then connects to. Nothing is looked up after it. */
  private readonly lookup: LookupFunction = (host, options, callback) => {
    this.allowedAddressesOf(host, RESOLVING_MS).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first] = found;
        if (options.all === true) callback(null, found);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: unknown) => callback(error as NoTargetError, ''),
    );
  };

  /** @throws {NoTargetError} */
  private async allowedAddressesOf(host: string, limitMs: number): Promise<readonly string[]> {
    let addresses: readonly string[];
    try {
      addresses = await this.resolver.addressesOf(host, limitMs);
    } catch (cause) {
      throw new NoTargetError('dns', 'The name could not be resolved.', { cause });
    }
    if (addresses.length === 0) throw new NoTargetError('dns', 'The name has no addresses.');
    const { allowPrivateNetworks } = this.policy;
    if (!addresses.every((address) => isAllowedAddress(address, allowPrivateNetworks))) {
      throw new NoTargetError('blocked', `the URL ${faultOfAddress(this.policy)}`);
    }
    return addresses;
  }
}
