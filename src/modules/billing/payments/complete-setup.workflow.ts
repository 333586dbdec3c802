import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { CustomersService } from '../../customers';
import {
  type ApplyResult,
  type PaymentMethodSetup,
  PaymentMethodsService,
  PaymentMethodSetupsService,
  type ProviderSetupState,
} from '../../payments';
import { SavePaymentMethodWorkflow } from './save-payment-method.workflow';

/** State to record for a setup whose payment method was stored by another request, and then deleted. */
const GIVEN_UP: ProviderSetupState = { kind: 'refused', failureCode: 'method_unusable' };

/**
 * Completes setups of payment methods.
 *
 * 1. Asks the provider about the setup, outside any transaction. Cancels an overdue setup.
 * 2. Locks the customer and the setup.
 * 3. If the setup succeeded at the provider, stores the payment method (`SavePaymentMethodWorkflow`). Exception: if the
 *    method was stored and deleted meanwhile, does not store it again, and the setup fails. Writes the state of the
 *    setup. The setup of a deleted customer is canceled.
 */
@Injectable()
export class CompleteSetupWorkflow {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly setups: PaymentMethodSetupsService,
    private readonly methods: PaymentMethodsService,
    private readonly savePaymentMethod: SavePaymentMethodWorkflow,
  ) {}

  /**
   * Completes a setup. Returns false if the provider did not answer. Returns `missing` if the provider does not have
   * the setup, which then stays pending.
   */
  async resume(id: string): Promise<ApplyResult> {
    const setup = await this.setups.find(id);
    if (setup?.status !== 'pending') return true;
    const state = await this.setups.readState(setup);
    await this.settle(setup, state);
    return state.kind === 'missing' ? 'missing' : state.kind !== 'unknown';
  }

  private settle({ id, customerId }: PaymentMethodSetup, state: ProviderSetupState): Promise<void> {
    return this.database.transaction(async () => {
      const isDeleted = !(await this.customers.findExistingIds([customerId])).has(customerId);
      if (!isDeleted) await this.customers.lockForChange(customerId);
      const before = await this.setups.lockPending(id);
      if (before === null) return;
      // A deleted customer is not charged any more, so the setup is canceled.
      if (isDeleted) return this.setups.recordState(before, { kind: 'canceled' }, null);
      if (state.kind !== 'set_up') return this.setups.recordState(before, state, null);
      const { provider, isDefault } = before;
      const { token, details } = state;
      if (await this.methods.isTokenDeleted({ customerId, provider, token }))
        return this.setups.recordState(before, GIVEN_UP, null);
      const kept = await this.savePaymentMethod.store(customerId, {
        provider,
        isDefault,
        token,
        ...details,
      });
      return this.setups.recordState(before, state, kept.id);
    });
  }
}
