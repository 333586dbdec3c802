import { Injectable } from '@nestjs/common';
import { Database, type VersionCondition } from '../../platform/database';
import { FeaturesService } from '../features';
import { BalancesRepository } from './balances.repository';

@Injectable()
export class DeleteEntitlementService {
  constructor(
    private readonly database: Database,
    private readonly features: FeaturesService,
    private readonly balances: BalancesRepository,
  ) {}

  /**
   * Deletes an entitlement and its cached balances. Does not wait for locks of balances. Fails with
   * `entitlement_in_use` if
   * - a plan, add-on link, grant or consumption refers to the entitlement, or another transaction has locked a balance;
   * - the entitlement has a meter, and a balance with a usage window.
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
