import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { SealedTextError, SecretBox } from '../../../platform/secrets';
import { ProvidedAdmins } from '../../studio';
import { identityOf } from '../domain/openid-identity';
import { openIdAdminRefused, openIdExpired } from '../sessions.errors';
import { type SessionWithSecret, type Browser, SessionsService } from '../sessions.service';
import { SignInAttemptsRepository } from '../sign-in-attempts.repository';
import { OpenIdProvider, type OpenIdRequest } from './openid-provider';

/** A sign-in that a browser has begun. The browser keeps this data in an encrypted cookie. */
interface OpenIdFlow extends OpenIdRequest {
  /** Path of this service that the browser opens after the sign-in. */
  readonly returnTo: string;
  /** Instant at which the sign-in expires, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Time within which the browser must return from the provider. */
export const FLOW_MS = 600_000;
/** Purpose of the encryption of the cookie. A text that was encrypted for another purpose is refused. */
const SEALED_FOR = 'openid-flow';

@Injectable()
export class OpenIdSignIn {
  constructor(
    private readonly provider: OpenIdProvider,
    private readonly admins: ProvidedAdmins,
    private readonly sessions: SessionsService,
    private readonly attempts: SignInAttemptsRepository,
    private readonly box: SecretBox,
    private readonly clock: Clock,
  ) {}

  /**
   * Begins a sign-in. Returns the URL of the provider at which the browser signs in, and the text of the cookie that
   * the browser must keep.
   * @throws {ProblemError} `openid_disabled`, `openid_unavailable`
   */
  async begin(returnTo: string): Promise<{ readonly url: string; readonly cookie: string }> {
    const { url, request } = await this.provider.begin();
    const expiresAt = this.clock.now().getTime() + FLOW_MS;
    const flow: OpenIdFlow = { ...request, returnTo, expiresAt };
    return { url: url.href, cookie: this.box.seal(JSON.stringify(flow), SEALED_FOR) };
  }

  /**
   * Finishes a sign-in, and begins a session of the admin whom the provider has identified.
   * @param query query of the URL to which the provider redirected the browser, unchanged and without `?`
   * @param cookie text that {@link begin} returned; null if the browser sent no cookie
   * @throws {ProblemError} `openid_disabled`, `openid_expired`, `openid_refused`, `openid_unavailable`,
   *   `openid_admin_refused`
   */
  async finish(
    query: string,
    cookie: string | null,
    browser: Browser,
  ): Promise<SessionWithSecret & { readonly returnTo: string }> {
    const { settings } = this.provider;
    const flow = this.readFlow(cookie);
    const state = new URLSearchParams(query).get('state');
    if (flow?.state !== state) throw openIdExpired();
    // A sign-in can be finished only once, even if the provider would accept the same code again.
    if (!(await this.attempts.claim(`openid:${flow.state}`, this.clock.now()))) {
      throw openIdExpired();
    }
    const identity = identityOf(await this.provider.finish(query, flow), settings);
    if (typeof identity === 'string') throw openIdAdminRefused(identity);
    const admin = await this.admins.accountOf(identity, settings.createsUnknownAdmins);
    if (typeof admin === 'string') throw openIdAdminRefused(admin);
    const begun = await this.sessions.begin(admin, browser, 'openid_connect');
    return { ...begun, returnTo: flow.returnTo };
  }

  /** Returns true if the query has the state of the sign-in that the cookie keeps. */
  isAnswer(query: string, cookie: string | null): boolean {
    return this.readFlow(cookie)?.state === new URLSearchParams(query).get('state');
  }

  /**
   * Returns the sign-in of the cookie. Null: there is no cookie, this service did not encrypt it, or the sign-in has
   * expired.
   */
  private readFlow(cookie: string | null): OpenIdFlow | null {
    if (cookie === null) return null;
    const text = openedText(this.box, cookie);
    const flow = text === null ? null : (JSON.parse(text) as OpenIdFlow);
    return flow !== null && this.clock.now().getTime() < flow.expiresAt ? flow : null;
  }
}

function openedText(box: SecretBox, cookie: string): string | null {
  try {
    return box.open(cookie, SEALED_FOR);
  } catch (error) {
    if (error instanceof SealedTextError) return null;
    throw error;
  }
}
