import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type Principal, requireHeldScopes } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { assertVersion, Database, revise, type VersionCondition } from '../../platform/database';
import { Outbox } from '../../platform/outbox';
import type { SettingsChange, StudioSettings } from './domain/studio-settings';
import { studioSettingsUpdated } from './studio.events';
import { StudioSettingsRepository } from './studio-settings.repository';

type SettingsEditor = Pick<Principal, 'scopes'>;

@Injectable()
export class StudioSettingsService {
  constructor(
    private readonly database: Database,
    private readonly settings: StudioSettingsRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  get(): Promise<StudioSettings> {
    return this.settings.read();
  }

  /**
   * Changes the settings. If nothing changes, writes nothing and records no event. The caller needs `refunds:write` to
   * change the refund limits. The caller needs all scopes to end the requirement of a second factor, because the
   * requirement also protects owners.
   * @throws {ProblemError} `precondition_failed`, `scope_not_held`
   */
  update(
    change: SettingsChange,
    { expected, caller }: { readonly expected: VersionCondition; readonly caller: SettingsEditor },
  ): Promise<StudioSettings> {
    return this.database.transaction(async () => {
      const before = await this.settings.lock();
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = revise(before, change, now);
      if (after === before) return before;
      if (!isDeepStrictEqual(before.supportRefundLimits, after.supportRefundLimits)) {
        requireHeldScopes(['refunds:write'], caller);
      }
      const isLifted = before.secondFactorRequired && !after.secondFactorRequired;
      if (isLifted) requireHeldScopes(['*'], caller);
      await this.settings.update(after);
      await this.outbox.recordChange(studioSettingsUpdated, { after, before }, now);
      return after;
    });
  }
}
