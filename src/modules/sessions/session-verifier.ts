import { Injectable } from '@nestjs/common';
import { scopesOfRole } from '../../core/access';
import { type Principal, principalWith } from '../../platform/access';
import { SessionsService } from './sessions.service';

/** Verifies session cookies for the middleware that identifies callers. */
@Injectable()
export class SessionVerifier {
  constructor(private readonly sessions: SessionsService) {}

  /** @throws {ProblemError} `unauthenticated` */
  readonly verify = async (secret: string): Promise<Principal> => {
    const { admin } = await this.sessions.current(secret);
    return principalWith('admin', admin.id, scopesOfRole(admin.role));
  };
}
