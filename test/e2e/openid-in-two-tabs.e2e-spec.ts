import type { Response } from 'supertest';
import { createAdmin } from '../support/admins';
import { checkedClient } from '../support/checked-client';
import { WITH_KEYS } from '../support/keys';
import { CLIENT, OpenIdServer } from '../support/openid-server';
import { startTestApp, type TestApp } from '../support/test-app';

const PUBLIC_URL = 'https://billing.example.com';
const BEGIN = '/v1/session/oidc';
const CALLBACK = '/v1/session/oidc/callback';

/** Keeps the cookie of a sign-in between requests, as a browser does for all of its tabs. */
class Browser {
  private cookie: string | null = null;

  constructor(private readonly url: string) {}

  async get(path: string): Promise<Response> {
    const request = checkedClient(this.url).get(path).redirects(0);
    const answer = await (this.cookie === null ? request : request.set('Cookie', this.cookie));
    const cookies = answer.get('Set-Cookie') ?? [];
    const changed = cookies.find((cookie) => cookie.includes('billing_openid='));
    if (changed !== undefined) {
      const isCleared = changed.includes('Expires=Thu, 01 Jan 1970');
      this.cookie = isCleared ? null : (changed.split(';', 1)[0] ?? null);
    }
    return answer;
  }
}

describe('a sign-in with OpenID Connect', () => {
  let provider: OpenIdServer;
  let engine: TestApp;
  let browser: Browser;

  beforeAll(async () => {
    // The provider warns that it is not set up for production.
    for (const method of ['warn', 'info'] as const) {
      jest.spyOn(console, method).mockImplementation(() => undefined);
    }
    provider = await OpenIdServer.start(`${PUBLIC_URL}${CALLBACK}`);
    provider.person = { email: 'ada@example.com', email_verified: true, name: 'Ada' };
    engine = await startTestApp({
      environment: {
        ...WITH_KEYS,
        PUBLIC_URL,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: CLIENT.id,
        OIDC_CLIENT_SECRET: CLIENT.secret,
        OIDC_ALLOWED_DOMAINS: 'example.com',
        OIDC_ALLOW_PRIVATE_NETWORKS: 'true',
        PUBLIC_DOCS: 'false',
      },
    });
    await createAdmin(engine, 'admin', 'ada@example.com');
  });

  afterAll(async () => {
    jest.restoreAllMocks();
    await engine.close();
    await provider.close();
  });

  beforeEach(async () => {
    browser = new Browser(await engine.app.getUrl());
  });

  /** Begins a sign-in, signs in at the provider, and returns the path to which it redirects the browser. */
  async function begun(): Promise<string> {
    const { headers } = await browser.get(BEGIN);
    return `${CALLBACK}?${await provider.authorize(headers['location'] ?? '')}`;
  }

  async function expectExpired(path: string): Promise<void> {
    expect((await browser.get(path)).body).toMatchObject({ code: 'openid_expired' });
  }

  it('leads to the console by default, also if the documentation is not public', async () => {
    const { status, headers } = await browser.get(await begun());
    expect([status, headers['location']]).toEqual([303, '/studio/']);
    expect((await engine.uncheckedHttp.get('/studio/')).status).not.toBe(401);
  });

  it('replaces one of another tab, whose return does not end it', async () => {
    const replaced = await begun();
    const path = await begun();
    await expectExpired(replaced);
    expect((await browser.get(path)).status).toBe(303);
    await expectExpired(path);
  });

  it.each(['', '?state=x'])('is not ended by a link to the callback: %j', async (query) => {
    const path = await begun();
    await expectExpired(`${CALLBACK}${query}`);
    expect((await browser.get(path)).status).toBe(303);
  });
});
