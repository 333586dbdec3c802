import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiQuery, type ApiQueryOptions, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import {
  clearFlowCookie,
  flowCookieOf,
  setFlowCookie,
  setSessionCookie,
} from '../../../platform/access';
import { ProblemError } from '../../../platform/errors';
import { Operation } from '../../../platform/http';
import { LONGEST_SESSION_MS } from '../domain/session';
import { BeginOpenIdSignInDto } from '../dto/begin-openid-sign-in.dto';
import {
  openIdAdminRefused,
  openIdDisabled,
  openIdExpired,
  openIdRefused,
  openIdUnavailable,
} from '../sessions.errors';
import { FLOW_MS, OpenIdSignIn } from './openid-sign-in.service';

const PATH = 'v1/session/oidc';

/** Path of the console, which opens without a session. It shows why a sign-in failed. */
const CONSOLE = '/studio/';
const SHOWN_IN_CONSOLE =
  'If it fails, a browser (`Accept: text/html`) is redirected to the console, which shows the reason.';

function parameter(name: string, description: string): ApiQueryOptions {
  return { name, required: false, description, schema: { type: 'string' } };
}

/**
 * Returns true for the callback path, to which the provider redirects the browser. A request to it changes data
 * although it is a GET request: it begins a session.
 */
export function isOpenIdCallback({ path }: Pick<Request, 'path'>): boolean {
  return path === `/${PATH}/callback`;
}

/**
 * Signs admins in by redirects. The first route sends the browser to the provider. The provider sends it back to the
 * second route.
 */
@ApiTags('Sessions')
@Controller(PATH)
export class OpenIdController {
  constructor(private readonly signIns: OpenIdSignIn) {}

  @Get()
  @Operation({
    summary: 'Sign in with OpenID Connect',
    description:
      'Open it in a browser. Redirects to the configured OpenID provider, which redirects to the callback. ' +
      SHOWN_IN_CONSOLE,
    access: 'public',
    status: 303,
    problems: [openIdDisabled, openIdUnavailable],
  })
  async beginOpenIdSignIn(
    @Query() { return_to: returnTo = CONSOLE }: BeginOpenIdSignInDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await redirect({ request, response }, async () => {
      const { url, cookie } = await this.signIns.begin(returnTo);
      setFlowCookie({ request, response }, { text: cookie, expiresInMs: FLOW_MS });
      return url;
    });
  }

  @Get('callback')
  @ApiQuery(parameter('code', 'Code of the provider, exchanged for tokens once.'))
  @ApiQuery(parameter('state', 'State of the sign-in, as the provider received it.'))
  @ApiQuery(parameter('iss', 'Issuer of the answer (RFC 9207).'))
  @ApiQuery(parameter('error', 'Why the provider did not sign the person in.'))
  @Operation({
    summary: 'Finish a sign-in with OpenID Connect',
    description:
      'The OpenID provider redirects the browser here. Begins a session like `POST /v1/session`, and redirects to `return_to`. ' +
      'Each sign-in is finished once, by the browser that began it, within ten minutes. Further query parameters are ignored. ' +
      SHOWN_IN_CONSOLE,
    access: 'public',
    status: 303,
    problems: [openIdDisabled, openIdExpired, openIdRefused, openIdUnavailable, openIdAdminRefused],
  })
  async finishOpenIdSignIn(
    // Accepts all parameters, because providers add parameters of their own.
    @Query() _query: Readonly<Record<string, unknown>>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const { ip = '', headers, originalUrl } = request;
    const browser = { address: ip, userAgent: headers['user-agent'] ?? '' };
    const cookie = flowCookieOf(request);
    const query = new URL(originalUrl, 'http://localhost').search.slice(1);
    // Otherwise the cookie is that of a sign-in in another tab, which is not finished yet.
    if (this.signIns.isAnswer(query, cookie)) clearFlowCookie({ request, response });
    await redirect({ request, response }, async () => {
      const { secret, returnTo } = await this.signIns.finish(query, cookie, browser);
      setSessionCookie({ request, response }, { secret, expiresInMs: LONGEST_SESSION_MS });
      return returnTo;
    });
  }
}

/**
 * Redirects to the URL that `step` returns. If `step` throws a `ProblemError` and the caller prefers HTML to JSON, as
 * browsers do, redirects to the console. The query then has the reason of the error, or its code if it has no reason.
 * All other errors are thrown.
 */
async function redirect(
  { request, response }: { readonly request: Request; readonly response: Response },
  step: () => Promise<string>,
): Promise<void> {
  const location = await step().catch((error: unknown) => {
    if (!(error instanceof ProblemError) || request.accepts('json', 'html') !== 'html') throw error;
    const { definition, occurrence } = error;
    const reason = occurrence.extensions?.['reason'];
    const shown = new URLSearchParams({ sign_in_error: String(reason ?? definition.code) });
    return `${CONSOLE}?${shown.toString()}`;
  });
  response.set('Cache-Control', 'no-store').location(location);
}
