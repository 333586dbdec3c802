import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type AdminAccount, emailKeyOf, toAccount } from './domain/studio-admin';
import { Passwords } from './passwords';
import { StudioRepository } from './studio.repository';

/**
 * Hash that belongs to no account, at the minimum cost that OWASP recommends. {@link AdminAccounts.withPassword} uses
 * it if no stored hash can be checked.
 */
const DECOY =
  '$argon2id$v=19$m=19456,t=2,p=1$YmlsbGluZy1lbmdpbmUtZGVjb3k$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';

/** Gives modules of higher layers access to the accounts of admins, but not to the password hashes. */
@Injectable()
export class AdminAccounts {
  constructor(
    private readonly admins: StudioRepository,
    private readonly passwords: Passwords,
  ) {}

  async find(id: string): Promise<AdminAccount | null> {
    const admin = await this.admins.find(id);
    return admin === null ? null : toAccount(admin);
  }

  async lock(id: string): Promise<AdminAccount | null> {
    const admin = await this.admins.lock(id);
    return admin === null ? null : toAccount(admin);
  }

  /**
   * Ends all sessions of the admin. To keep one session, call `SessionsService.keepValid` afterwards, in the same
   * transaction.
   */
  async endSessions(id: string, now: Date): Promise<void> {
    await this.admins.endSessions(id, now);
  }

  /**
   * Returns the active admin with this email and password, or null. Takes equally long for emails with and without an
   * account. If there is no account, or its hash cannot be checked, checks the password against the hash of another
   * admin. If there is no such hash either, uses {@link DECOY}. While the admins stay the same, an email always gets
   * the same hash.
   * @throws {ProblemError} `too_many_sign_ins`
   */
  async withPassword(email: string, password: string): Promise<AdminAccount | null> {
    const emailKey = emailKeyOf(email);
    const admin = await this.admins.findByEmail(emailKey);
    const decoy = await this.admins.anyPasswordHash(numberFor(emailKey));
    const hash = [admin?.passwordHash, decoy].find((one) => this.canCheck(one)) ?? DECOY;
    const matches = await this.passwords.verify(password, hash);
    if (admin === null || !admin.isActive || hash !== admin.passwordHash) return null;
    return matches ? toAccount(admin) : null;
  }

  private canCheck(passwordHash: string | null | undefined): passwordHash is string {
    return typeof passwordHash === 'string' && this.passwords.canCheck(passwordHash);
  }
}

/** Returns a number from 0 to 2^31 - 1 that depends only on the email. */
function numberFor(emailKey: string): number {
  return createHash('sha256').update(emailKey).digest().readUInt32BE() >>> 1;
}
