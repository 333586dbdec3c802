import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  type Configuration as ClientConfiguration,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from 'openid-client';
import { Clock } from '../../../platform/clock';
import { Configuration, type OpenIdSettings } from '../../../platform/config';
import { OutboundHttp, resolverFor } from '../../../platform/outbound';
import { openIdDisabled, openIdRefused, openIdUnavailable } from '../sessions.errors';
import { joinClaims, type PersonClaims } from '../domain/openid-identity';
import { isOverload, isRefusal, isUntrusted } from './openid-faults';
import { fetchThrough, OpenIdCallError } from './openid-http';

/** Random values of one sign-in. They tie the answer of the provider to the browser that began the sign-in. */
export interface OpenIdRequest {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Time after which the metadata of the provider is read again, in milliseconds. */
const METADATA_MS = 3_600_000;
/**
 * Time after which the metadata is read again if it may have caused a failed sign-in, in milliseconds. It is not
 * shorter, because a stranger can cause some of these failures, for example with an invalid code.
 */
const DOUBTFUL_METADATA_MS = 10_000;
/** Fields of the metadata with the addresses that a sign-in needs; the last one is optional. */
const ADDRESSES = [
  'authorization_endpoint',
  'token_endpoint',
  'jwks_uri',
  'userinfo_endpoint',
] as const;
const SCOPES = 'openid email profile';

/** Signs people in at the configured OpenID provider, with the authorization code flow and PKCE (RFC 7636). */
@Injectable()
export class OpenIdProvider implements OnApplicationShutdown {
  private readonly logger = new Logger('openid');
  private readonly http: OutboundHttp | null;
  private client: {
    readonly found: Promise<ClientConfiguration>;
    /** Instant at which the metadata was read, in milliseconds since 1970. */
    readonly foundAt: number;
    isDoubtful: boolean;
  } | null = null;

  constructor(
    private readonly configuration: Configuration,
    private readonly clock: Clock,
  ) {
    const { openId } = configuration;
    const policy = {
      allowPrivateNetworks: openId?.allowPrivateNetworks === true,
      allowedPorts: 'any' as const,
    };
    this.http = openId === null ? null : new OutboundHttp(policy, resolverFor(policy));
  }

  onApplicationShutdown(): void {
    this.http?.close();
  }

  /** @throws {ProblemError} `openid_disabled` */
  get settings(): OpenIdSettings {
    const { openId } = this.configuration;
    if (openId === null) throw openIdDisabled();
    return openId;
  }

  /**
   * Begins a sign-in. Returns the URL of the provider at which the browser signs in. Also returns the random values
   * that {@link finish} needs to check the answer of the provider.
   * @throws {ProblemError} `openid_disabled`, `openid_unavailable`
   */
  async begin(): Promise<{ readonly url: URL; readonly request: OpenIdRequest }> {
    const { redirectUrl } = this.settings;
    const client = await this.connected();
    const request = {
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
    };
    const url = buildAuthorizationUrl(client, {
      redirect_uri: redirectUrl,
      scope: SCOPES,
      state: request.state,
      nonce: request.nonce,
      code_challenge: await calculatePKCECodeChallenge(request.verifier),
      code_challenge_method: 'S256',
    });
    return { url, request };
  }

  /**
   * Returns the claims about the person, joined from the ID token and the UserInfo endpoint. Checks the state of the
   * redirect, and the issuer, audience, signature, times and nonce of the ID token.
   * @param query query of the URL to which the provider redirected the browser, unchanged and without `?`
   * @throws {ProblemError} `openid_disabled`, `openid_refused`, `openid_unavailable`
   */
  async finish(query: string, { state, nonce, verifier }: OpenIdRequest): Promise<PersonClaims> {
    const { redirectUrl } = this.settings;
    const url = new URL(`${redirectUrl}?${query}`);
    // Parameters of other flows, which this service does not use.
    for (const unused of ['id_token', 'token']) url.searchParams.delete(unused);
    const found = this.connected();
    const client = await found;
    try {
      const tokens = await authorizationCodeGrant(client, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims: PersonClaims = tokens.claims() ?? {};
      if (client.serverMetadata().userinfo_endpoint === undefined) return claims;
      const { sub } = claims;
      const shown = await fetchUserInfo(client, tokens.access_token, String(sub));
      return joinClaims(claims, shown);
    } catch (error) {
      this.log(error);
      if (isRefusal(error)) throw openIdRefused();
      // This sign-in has used its code, so only the next one can use new metadata and keys.
      if (!isOverload(error) && this.client?.found === found) this.client.isDoubtful = true;
      throw isUntrusted(error) ? openIdRefused() : openIdUnavailable();
    }
  }

  /** @throws {ProblemError} `openid_unavailable` */
  private connected(): Promise<ClientConfiguration> {
    const now = this.clock.now().getTime();
    if (this.client !== null) {
      const { found, foundAt, isDoubtful } = this.client;
      // The clock can have been set back.
      const ageMs = Math.abs(now - foundAt);
      if (ageMs < (isDoubtful ? DOUBTFUL_METADATA_MS : METADATA_MS)) return found;
    }
    const found = this.discover().catch((error: unknown) => {
      if (this.client?.found === found) this.client = null;
      this.log(error);
      throw openIdUnavailable();
    });
    this.client = { found, foundAt: now, isDoubtful: false };
    return found;
  }

  /** Logs only the messages of an error and of its causes, because their other fields may contain tokens and claims. */
  private log(error: unknown): void {
    this.logger.warn({ reasons: messagesOf(error) }, 'sign-in with OpenID Connect failed');
  }

  private async discover(): Promise<ClientConfiguration> {
    const { issuer, clientId, clientSecret, allowPrivateNetworks } = this.settings;
    if (this.http === null) throw openIdDisabled();
    const allowsPlainHttp = allowPrivateNetworks && issuer.startsWith('http:');
    const options = {
      [customFetch]: fetchThrough(this.http, allowsPlainHttp),
      execute: [
        enableNonRepudiationChecks,
        // `allowInsecureRequests` is marked as deprecated, because plain HTTP is unsafe. The configuration allows plain
        // HTTP for loopback only.
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- an issuer on loopback has no certificate
        ...(allowsPlainHttp ? [allowInsecureRequests] : []),
      ],
    };
    const authenticate: ClientAuth = (server, ...request) => {
      const methods = server.token_endpoint_auth_methods_supported;
      // HTTP Basic authentication is the default of the standard. Some providers support `client_secret_post` only.
      const isBasic = methods === undefined || methods.includes('client_secret_basic');
      (isBasic ? ClientSecretBasic : ClientSecretPost)(clientSecret)(server, ...request);
    };
    const client = await discovery(new URL(issuer), clientId, clientSecret, authenticate, options);
    checkAddresses(client.serverMetadata(), allowsPlainHttp);
    return client;
  }
}

/** @throws {OpenIdCallError} if the metadata lacks an address that a sign-in needs, or an address is not allowed */
function checkAddresses(metadata: ServerMetadata, allowsPlainHttp: boolean): void {
  const scheme = allowsPlainHttp ? /^https?:/ : /^https:/;
  for (const field of ADDRESSES) {
    const address: unknown = metadata[field];
    if (field === 'userinfo_endpoint' && address === undefined) continue;
    if (typeof address !== 'string' || !URL.canParse(address) || !scheme.test(address)) {
      throw new OpenIdCallError(`The metadata of the OpenID provider has no usable ${field}.`);
    }
  }
}

function messagesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  return [error.message, ...messagesOf(error.cause)];
}
