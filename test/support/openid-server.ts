import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export const CLIENT = { id: 'billing', secret: 'a-secret-of-the-client-0123456789' } as const;
/** Another application that is registered at the same provider. */
const OTHER_CLIENT = { id: 'other', secret: 'another-secret-of-a-client-012345' } as const;

export interface Person {
  readonly email?: string | undefined;
  readonly email_verified?: boolean | string;
  readonly name?: string;
  readonly groups?: readonly string[];
}

/** An answer of the provider. */
export interface OpenIdAnswer {
  status: number;
  /** Usually the object that is sent as JSON. Null: nothing is sent, with status 204. */
  body: unknown;
}

type IdTokenClaims = Readonly<Record<string, unknown>>;

/** An OpenID provider (npm `oidc-provider`) in this process. It signs everybody in without a prompt. */
export class OpenIdServer {
  /** Person who signs in next. */
  person: Person = {};
  /**
   * Changes the claims of ID tokens, which are then signed again (with another key if `signsWithOtherKey` is true).
   * Null: ID tokens stay unchanged.
   */
  forged: ((claims: IdTokenClaims) => IdTokenClaims) | null = null;
  signsWithOtherKey = false;
  /** If true, ID tokens are signed with another key, the only one that is published. */
  hasNewKey = false;
  /** If true, the keys of `hasNewKey` true and false are both published. */
  publishesBothKeys = false;
  /** If true, ID tokens do not name their key. */
  omitsKid = false;
  /** Changes the answers at paths of the provider, for example `/token`. */
  changes: Readonly<Record<string, (answer: OpenIdAnswer) => void>> = {};
  /** Token requests are answered after this promise. */
  held: Promise<void> | null = null;
  tokenRequests = 0;
  discoveries = 0;

  private constructor(
    private readonly server: Server,
    readonly issuer: string,
  ) {}

  /** @param callback URL to which the provider may redirect browsers */
  static async start(callback: string): Promise<OpenIdServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const started = new OpenIdServer(server, issuer);
    started.mount(callback);
    return started;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /**
   * Follows the redirects from the authorization endpoint, as a browser does. Returns the query of the redirect to the
   * client.
   */
  async authorize(location: string): Promise<string> {
    const cookies = new Map<string, string>();
    let url = new URL(location);
    for (let redirects = 0; redirects < 10; redirects += 1) {
      const answer = await fetch(url, {
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      });
      for (const cookie of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = (cookie.split(';', 1)[0] ?? '').split('=');
        cookies.set(name, value);
      }
      const next = answer.headers.get('location');
      if (next === null)
        throw new Error(`The provider answered ${answer.status}: ${await answer.text()}`);
      url = new URL(next, url);
      if (url.origin !== this.issuer) return url.search.slice(1);
    }
    throw new Error('The provider redirects without an end.');
  }

  private mount(callback: string): void {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const other = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
    const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' };
    const newKey = { ...createPublicKey(other).export({ format: 'jwk' }), kid: 'k2', alg: 'RS256' };
    const provider = new Provider(this.issuer, {
      clients: [CLIENT, OTHER_CLIENT].map(({ id, secret }) => ({
        client_id: id,
        client_secret: secret,
        redirect_uris: [callback],
      })),
      jwks: { keys: [jwk] },
      cookies: { keys: ['a-key-of-cookies'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, ...this.person }),
      }),
      loadExistingGrant: async ({ oidc }) => {
        const clientId = oidc.client?.clientId ?? '';
        const grant = new oidc.provider.Grant({
          clientId,
          accountId: oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    provider.use(async (context, next) => {
      await next();
      this.changes[context.path]?.(context);
      if (context.path === '/.well-known/openid-configuration') this.discoveries += 1;
      if (context.path === '/jwks' && (this.hasNewKey || this.publishesBothKeys)) {
        const { keys } = context.body as { readonly keys: readonly unknown[] };
        context.body = { keys: this.publishesBothKeys ? [...keys, newKey] : [newKey] };
      }
      if (context.path !== '/token') return;
      this.tokenRequests += 1;
      await this.held;
      const body = context.body as { id_token?: string } | null;
      const isOther = this.signsWithOtherKey || this.hasNewKey;
      if (body?.id_token === undefined) return;
      if (this.forged === null && !isOther && !this.omitsKid) return;
      const key = isOther ? other : createPrivateKey({ key: jwk, format: 'jwk' });
      const named = this.hasNewKey ? newKey.kid : jwk.kid;
      const kid = this.omitsKid ? undefined : named;
      body.id_token = resigned(body.id_token, this.forged ?? ((claims) => claims), { key, kid });
    });
    const answer = provider.callback();
    this.server.on('request', (request, response) => {
      if (!request.url?.startsWith('/interaction/')) {
        void answer(request, response);
        return;
      }
      const login = { accountId: this.person.email ?? 'nobody' };
      void provider.interactionFinished(request, response, { login });
    });
  }
}

function resigned(
  token: string,
  change: (claims: IdTokenClaims) => IdTokenClaims,
  { key, kid }: { readonly key: KeyObject; readonly kid: string | undefined },
): string {
  const [, payload = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as IdTokenClaims;
  const parts = [{ alg: 'RS256', kid }, change(claims)];
  const text = parts
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}
