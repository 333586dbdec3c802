import { Body, Controller, Delete, Get, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import {
  csrfTokenOf,
  refuseCrossSiteSignIn,
  refuseCrossSiteRequest,
  sessionSecretOf,
  setSessionCookie,
} from '../../platform/access';
import { unauthenticated } from '../../platform/errors';
import { Operation } from '../../platform/http';
import { tooManySignIns } from '../studio';
import { LONGEST_SESSION_MS } from './domain/session';
import { CreateSessionDto, toCredentials } from './dto/create-session.dto';
import { CurrentSessionDto, toCurrentSessionDto } from './dto/current-session.dto';
import { secondFactorFailed, secondFactorRequired, signInFailed } from './sessions.errors';
import { SessionsService } from './sessions.service';
import { SignInService } from './sign-in.service';

/**
 * Session of the calling browser. The operations have `public` access, because they need no scope. Each of them checks
 * the session cookie or the password itself.
 */
@ApiTags('Sessions')
@Controller('v1/session')
export class SessionController {
  constructor(
    private readonly signIns: SignInService,
    private readonly sessions: SessionsService,
  ) {}

  @Post()
  @Operation({
    summary: 'Sign in',
    description:
      'Sets the cookie `billing_session`, the credential of a studio admin in a browser. The session ends after 12 hours without ' +
      'use, after 7 days, with a new password, and when the browser signs in again with a password. With TLS the cookie is `__Secure-billing_session`. Five attempts are allowed in 15 minutes for each account and each address. An admin with a second factor also sends ' +
      '`totp_code` or `recovery_code`; without one the answer is `second_factor_required`.',
    access: 'public',
    status: 201,
    answer: CurrentSessionDto,
    reads: 'body',
    problems: [signInFailed, secondFactorRequired, secondFactorFailed, tooManySignIns],
  })
  async createSession(
    @Body() body: CreateSessionDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CurrentSessionDto> {
    refuseCrossSiteSignIn(request);
    const { ip = '', headers } = request;
    const browser = { address: ip, userAgent: headers['user-agent'] ?? '' };
    const begun = await this.signIns.signIn(toCredentials(body), browser);
    const { secret } = begun;
    await this.sessions.signOut(sessionSecretOf(request));
    setSessionCookie({ request, response }, { secret, expiresInMs: LONGEST_SESSION_MS });
    return toCurrentSessionDto(begun, csrfTokenOf(secret));
  }

  @Get()
  @Operation({
    summary: 'Read your session',
    description: 'Returns the signed-in admin, the scopes and the CSRF token.',
    access: 'public',
    answer: CurrentSessionDto,
    problems: [unauthenticated],
  })
  async getSession(@Req() request: Request): Promise<CurrentSessionDto> {
    const secret = sessionSecretOf(request);
    if (secret !== null) refuseCrossSiteRequest(request, secret);
    return toCurrentSessionDto(await this.sessions.current(secret), csrfTokenOf(secret ?? ''));
  }

  @Delete()
  @Operation({
    summary: 'Sign out',
    description:
      'Ends the session of the cookie, and removes the cookie. Needs the header `X-CSRF-Token`. Does nothing without a session.',
    access: 'public',
  })
  async deleteSession(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const secret = sessionSecretOf(request);
    if (secret !== null) refuseCrossSiteRequest(request, secret);
    await this.sessions.signOut(secret);
    setSessionCookie({ request, response }, null);
  }
}
