import { Injectable } from '@nestjs/common';
import { scopesOfAdmin } from '../../core/access';
import { type Principal, principalWith } from '../../platform/access';
import { StudioSettingsService } from '../studio';
import { SessionsService } from './sessions.service';

@Injectable()
export class SessionVerifier {
  constructor(
    private readonly sessions: SessionsService,
    private readonly settings: StudioSettingsService,
  ) {}

  /** @throws {ProblemError} `unauthenticated` */
  readonly verify = async (secret: string): Promise<Principal> => {
    const { admin, session, mustEnrol } = await this.sessions.current(secret);
    const scopes = scopesOfAdmin(admin.role, mustEnrol);
    const usedPassword = session.method === 'password';
    const principal = { ...principalWith('admin', admin.id, scopes), mustEnrol, usedPassword };
    if (admin.role !== 'support') return principal;
    const { supportRefundLimits: refundLimits } = await this.settings.get();
    return { ...principal, refundLimits };
  };
}
