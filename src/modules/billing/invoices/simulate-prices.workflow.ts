import { Injectable } from '@nestjs/common';
import {
  SimulatePricesService,
  type SimulationCommand,
  type SimulationStep,
} from '../../invoicing';
import { SubscriptionPeriodsService } from '../../subscriptions';

/**
 * Calculates what customers would have paid at other prices. Writes and locks nothing. Simulates the customers in
 * groups, each in a database snapshot of its own.
 */
@Injectable()
export class SimulatePricesWorkflow {
  constructor(
    private readonly simulating: SimulatePricesService,
    private readonly periods: SubscriptionPeriodsService,
  ) {}

  /**
   * Checks the command at once. Calculates while the caller reads the returned generator.
   * @throws {ProblemError} `reference_not_found`, `price_terms_contradict`, `simulated_price_unmatched`,
   *   `usage_period_empty`, `too_many_reports`. The generator throws:
   * - `invoice_too_large`
   * - `usage_archived` if a percentage price needs archived events
   * - `simulated_price_unmatched` if a customer was billed at a price that the new price with the same name cannot
   *   replace
   */
  simulate(command: SimulationCommand): Promise<AsyncGenerator<SimulationStep>> {
    return this.simulating.simulate(command, (itemIds) => this.periods.creditsAtEnd(itemIds));
  }
}
