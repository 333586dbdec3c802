import { Injectable } from '@nestjs/common';
import { Database, type VersionCondition } from '../../platform/database';
import { FeaturesService } from '../features';
import { BalancesRepository } from './balances.repository';

/** Deletes entitlement definitions that are not in use, with their cached balances. */
@Injectable()
export class DeleteEntitlementService {
  constructor(
    private readonly database: Database,
    private readonly features: FeaturesService,
    private readonly balances: BalancesRepository,
  ) {}

  /**
   * Deletes an entitlement to which no plan, add-on link, grant or consumption refers. Locks the entitlement, then
   * deletes its cached balances without waiting for locks. Two kinds of balances stay, and let the deletion fail with
   * `entitlement_in_use`: balances that are being consumed, and, if the entitlement has a meter, balances with a usage
   * window.
   * @throws {ProblemError} `entitlement_not_found`, `precondition_failed`, `entitlement_in_use`
   */
  delete(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const feature = await this.features.lockForDeletion(id, expected);
      await this.balances.deleteCached(feature);
      await this.features.delete(feature);
    });
  }
}
