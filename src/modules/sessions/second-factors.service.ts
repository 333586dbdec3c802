import { Injectable } from '@nestjs/common';
import { scopesOfRole } from '../../core/access';
import { updatedAtAfter } from '../../core/next-version';
import { type Principal, requireHeldScopes } from '../../platform/access';
import { raise } from '../../platform/errors';
import { AuditTrail } from '../../platform/audit';
import { Clock } from '../../platform/clock';
import { Configuration } from '../../platform/config';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { SecretBox } from '../../platform/secrets';
import { type AdminAccount, AdminAccounts, studioAdminNotFound } from '../studio';
import {
  afterProof,
  type Enrolment,
  isEnabled,
  type IssuedRecoveryCodes,
  type SecondFactorProof,
  type SecondFactor,
  type SecondFactorCode,
  withRecoveryCodes,
} from './domain/second-factor';
import { newRecoveryCodes, recoveryHashOf } from './recovery-codes';
import { SecondFactorsRepository } from './second-factors.repository';
import { secondFactorEnabled, secondFactorFailed, secondFactorNotFound } from './sessions.errors';
import {
  secondFactorDisabledEvent,
  secondFactorEnabledEvent,
  secondFactorUpdatedEvent,
} from './sessions.events';
import { newTotpSecret, otpauthUri, stepOfCode } from './totp';

/**
 * Second factors of admins. A code is checked while the factor is locked, so that the code is accepted only once. Lock
 * order: first the admin, then the factor. {@link use} locks only the factor. Callers must limit the number of
 * attempts.
 */
@Injectable()
export class SecondFactorsService {
  constructor(
    private readonly database: Database,
    private readonly factors: SecondFactorsRepository,
    private readonly admins: AdminAccounts,
    private readonly box: SecretBox,
    private readonly outbox: Outbox,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
  ) {}

  /**
   * Returns the enabled factor of the admin.
   * @throws {ProblemError} `second_factor_not_found`
   */
  async get(adminId: string): Promise<SecondFactor> {
    const factor = await this.factors.findByAdmin(adminId);
    if (!isEnabled(factor)) throw secondFactorNotFound(adminId);
    return factor;
  }

  /**
   * Returns true if the studio requires second factors and the admin has no enabled factor. In a session that began
   * with a password, the admin must then enrol a factor before doing anything else.
   */
  isMissing(adminId: string): Promise<boolean> {
    return this.factors.isMissing(adminId);
  }

  /**
   * Begins an enrolment with a new secret. Replaces an enrolment that was not confirmed.
   * @throws {ProblemError} `second_factor_enabled`
   */
  begin({ id: adminId, email }: AdminAccount): Promise<Enrolment> {
    return this.database.transaction(async () => {
      await this.admins.lock(adminId);
      const former = await this.factors.lockByAdmin(adminId);
      if (isEnabled(former)) throw secondFactorEnabled();
      if (former !== null) await this.factors.delete(former.id);
      const id = newId('sf');
      const now = this.clock.now();
      const secret = newTotpSecret();
      const factor: SecondFactor = {
        id,
        version: 1,
        adminId,
        sealedSecret: await this.box.sealToStore(secret, id),
        lastStep: null,
        recoveryHashes: [],
        enabledAt: null,
        createdAt: now,
        updatedAt: now,
      };
      await this.factors.insert(factor);
      await this.audit.record({
        action: 'second_factor.created',
        objectId: id,
        fields: { admin_id: adminId },
      });
      const issuer = `Billing engine (${this.configuration.environmentName})`;
      return { factor, secret, otpauthUri: otpauthUri(secret, email, issuer) };
    });
  }

  /**
   * Enables the enrolled factor if the TOTP code is right, and ends all sessions of the admin.
   * @throws {ProblemError} `second_factor_not_found`, `second_factor_enabled`, `second_factor_failed`
   */
  confirm(adminId: string, totpCode: string): Promise<IssuedRecoveryCodes> {
    return this.database.transaction(async () => {
      await this.admins.lock(adminId);
      const pending =
        (await this.factors.lockByAdmin(adminId)) ?? raise(secondFactorNotFound(adminId));
      if (isEnabled(pending)) throw secondFactorEnabled();
      const verified = this.verifyCode(pending, { totpCode });
      const now = this.clock.now();
      const recoveryCodes = newRecoveryCodes();
      const factor = withRecoveryCodes(verified, recoveryCodes.map(recoveryHashOf), now);
      await this.factors.update(factor);
      await this.admins.endSessions(adminId, now);
      await this.outbox.record(secondFactorEnabledEvent, {
        before: pending,
        after: factor,
        occurredAt: now,
      });
      return { factor, recoveryCodes };
    });
  }

  /** @throws {ProblemError} `second_factor_not_found`, `second_factor_failed` */
  replaceRecoveryCodes(adminId: string, totpCode: string): Promise<IssuedRecoveryCodes> {
    return this.database.transaction(async () => {
      const before = await this.lockEnabled(adminId);
      const recoveryCodes = newRecoveryCodes();
      const hashes = recoveryCodes.map(recoveryHashOf);
      const factor = withRecoveryCodes(
        this.verifyCode(before, { totpCode }),
        hashes,
        this.clock.now(),
      );
      await this.write(before, factor);
      return { factor, recoveryCodes };
    });
  }

  /**
   * Checks the code, removes the factor, and ends all sessions of the admin.
   * @throws {ProblemError} `second_factor_not_found`, `second_factor_failed`
   */
  disable(adminId: string, code: SecondFactorCode): Promise<void> {
    return this.database.transaction(async () => {
      const factor = await this.lockEnabled(adminId);
      this.verifyCode(factor, code);
      await this.end(factor);
    });
  }

  /**
   * Removes the factor of an admin who can no longer send a code, and ends all sessions of the admin. The caller must
   * have all scopes of the role of the admin.
   * @throws {ProblemError} `studio_admin_not_found`, `scope_not_held`, `second_factor_not_found`
   */
  remove(adminId: string, caller: Pick<Principal, 'scopes'>): Promise<void> {
    return this.database.transaction(async () => {
      const { role } = (await this.admins.lock(adminId)) ?? raise(studioAdminNotFound(adminId));
      requireHeldScopes(scopesOfRole(role), caller);
      await this.end(await this.lockEnabled(adminId));
    });
  }

  /**
   * Checks the code of a sign-in. Returns:
   * - `not_needed`: the admin has no enabled factor.
   * - `missing`: the admin needs a code, and sent no code.
   * - `wrong`: the code is wrong or already used.
   * - `proved`: the code was right, and is now used up.
   */
  use(
    adminId: string,
    code: SecondFactorCode,
  ): Promise<'not_needed' | 'missing' | 'wrong' | 'proved'> {
    return this.database.transaction(async () => {
      const factor = await this.factors.lockByAdmin(adminId);
      if (!isEnabled(factor)) return 'not_needed';
      if (code === null) return 'missing';
      const after = afterProof(factor, this.proofOf(factor, code), this.clock.now());
      if (after === null) return 'wrong';
      await this.write(factor, after);
      return 'proved';
    });
  }

  private async lockEnabled(adminId: string): Promise<SecondFactor> {
    await this.admins.lock(adminId);
    const factor = await this.factors.lockByAdmin(adminId);
    if (!isEnabled(factor)) throw secondFactorNotFound(adminId);
    return factor;
  }

  private verifyCode(factor: SecondFactor, code: SecondFactorCode): SecondFactor {
    const after =
      code === null ? null : afterProof(factor, this.proofOf(factor, code), this.clock.now());
    if (after === null) throw secondFactorFailed();
    return after;
  }

  private proofOf(factor: SecondFactor, code: NonNullable<SecondFactorCode>): SecondFactorProof {
    if ('recoveryCode' in code) return { recoveryHash: recoveryHashOf(code.recoveryCode) };
    const secret = this.box.open(factor.sealedSecret, factor.id);
    return { step: stepOfCode(secret, code.totpCode, this.clock.now()) };
  }

  /**
   * Writes the factor, and records an event if the version changed. An accepted TOTP code keeps the version, because
   * the API does not show the time step of the code.
   */
  private async write(before: SecondFactor, after: SecondFactor): Promise<void> {
    await this.factors.update(after);
    if (after.version === before.version) return;
    await this.outbox.recordChange(secondFactorUpdatedEvent, { before, after }, this.clock.now());
  }

  private async end(before: SecondFactor): Promise<void> {
    const now = this.clock.now();
    await this.factors.delete(before.id);
    await this.admins.endSessions(before.adminId, now);
    const updatedAt = updatedAtAfter(before, now);
    const after = { ...before, enabledAt: null, recoveryHashes: [], updatedAt };
    await this.outbox.recordChange(secondFactorDisabledEvent, { before, after }, now);
  }
}
