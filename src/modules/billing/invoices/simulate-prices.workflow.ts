import { Injectable } from '@nestjs/common';
import {
  SimulatePricesService,
  type SimulationCommand,
  type SimulationStep,
} from '../../invoicing';
import { SubscriptionPeriodsService } from '../../subscriptions';

/**
 * Calculates what customers would have paid at other prices. Writes and locks nothing.
 *
 * 1. Checks the command.
 * 2. Divides the customers into groups. For each group, in one snapshot: reads the billed lines and the ends of the
 *    items that were billed in advance, and calculates the lines at the other prices.
 */
@Injectable()
export class SimulatePricesWorkflow {
  constructor(
    private readonly simulating: SimulatePricesService,
    private readonly periods: SubscriptionPeriodsService,
  ) {}

  /**
   * @throws {ProblemError} `reference_not_found`, `price_terms_contradict`, `simulated_price_unmatched`,
   *   `too_many_reports`. The generator also throws `invoice_too_large`
   */
  simulate(command: SimulationCommand): Promise<AsyncGenerator<SimulationStep>> {
    return this.simulating.simulate(command, (itemIds) => this.periods.creditsAtEnd(itemIds));
  }
}
