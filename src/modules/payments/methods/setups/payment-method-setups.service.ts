import { Injectable } from '@nestjs/common';
import { invariant } from '../../../../core/invariant';
import { Clock } from '../../../../platform/clock';
import { Database, type Page, type PageRequest } from '../../../../platform/database';
import { raise } from '../../../../platform/errors';
import { Idempotency } from '../../../../platform/idempotency';
import { newId } from '../../../../platform/ids';
import { Outbox } from '../../../../platform/outbox';
import { CustomersService } from '../../../customers';
import type { ProviderSetupState } from '../../domain/payment-provider';
import { ProviderGateway } from '../../providers/provider-gateway';
import { AttachMethodsService } from '../attach-methods.service';
import {
  isAbandoned,
  isOverdue,
  isSetupEnded,
  newSetup,
  type PaymentMethodSetup,
  type SetupProvider,
  type SetupSecret,
  applyProviderState,
} from './domain/payment-method-setup';
import {
  paymentMethodSetupEnded,
  paymentMethodSetupNotFound,
} from './payment-method-setups.errors';
import {
  SETUP_EVENTS,
  setupAnswer,
  setupCreated,
  setupUpdated,
} from './payment-method-setups.events';
import { PaymentMethodSetupsRepository } from './payment-method-setups.repository';

export interface NewSetup {
  readonly provider: SetupProvider;
  /** Null: the method becomes the default only if the customer has no usable default. */
  readonly isDefault: boolean | null;
}

@Injectable()
export class PaymentMethodSetupsService {
  constructor(
    private readonly database: Database,
    private readonly setups: PaymentMethodSetupsRepository,
    private readonly customers: CustomersService,
    private readonly attachMethods: AttachMethodsService,
    private readonly gateway: ProviderGateway,
    private readonly outbox: Outbox,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
  ) {}

  /**
   * Begins a setup at the provider, and then stores the setup. Must not be called in a transaction. If storing fails,
   * the setup remains at the provider. This is harmless, because it moves no money and its secret was not returned.
   * @throws {ProblemError} `customer_not_found`, `payment_provider_not_enabled`, `payment_provider_unavailable`,
   *   `test_clock_not_chargeable`
   */
  async create(
    customerId: string,
    { provider: name, isDefault }: NewSetup,
  ): Promise<PaymentMethodSetup> {
    this.database.refuseTransaction('Beginning a setup');
    const id = newId('pms');
    const provider = this.gateway.preparingProvider(name);
    invariant(provider !== null, `The provider ${name} sets up payment methods.`);
    const request = { setupId: id, customerId };
    const providerReference = await this.attachMethods.beginSetup(provider, request);
    return this.database.transaction(async () => {
      await this.idempotency.claimFor(id);
      await this.customers.lockForChange(customerId);
      const now = this.clock.now();
      const setup = newSetup({ id, customerId, provider: name, providerReference, isDefault }, now);
      await this.setups.insert(setup);
      await this.outbox.record(setupCreated, { after: setup, occurredAt: now });
      await this.idempotency.completeFor(id, setupAnswer(setup));
      return setup;
    });
  }

  /** @throws {ProblemError} `customer_not_found`, `payment_method_setup_not_found` */
  async get(customerId: string, id: string): Promise<PaymentMethodSetup> {
    await this.customers.get(customerId);
    const setup = await this.setups.find(id);
    return setup?.customerId === customerId ? setup : raise(paymentMethodSetupNotFound(id));
  }

  /** @throws {ProblemError} `customer_not_found` */
  async list(customerId: string, request: PageRequest): Promise<Page<PaymentMethodSetup>> {
    await this.customers.get(customerId);
    return this.setups.page(customerId, request);
  }

  find(id: string): Promise<PaymentMethodSetup | null> {
    return this.setups.find(id);
  }

  /**
   * Reads the secret of a pending setup from the provider.
   * @throws {ProblemError} `customer_not_found`, `payment_method_setup_not_found`, `payment_method_setup_ended`,
   *   `payment_provider_unavailable`
   */
  async secretOf(customerId: string, id: string): Promise<SetupSecret> {
    const setup = await this.get(customerId, id);
    const action = isSetupEnded(setup) ? null : await this.gateway.setupAction(setup);
    if (action === null) throw paymentMethodSetupEnded(id);
    const { provider, expiresAt } = setup;
    return { setupId: id, provider, clientSecret: action.clientSecret, expiresAt };
  }

  /**
   * Reads the state of a setup from the provider. Must not be called in a transaction. Cancels the setup if it has
   * expired and still waits for the customer. Returns `canceled` if the provider does not have the setup and it expired
   * at least 24 hours ago.
   */
  async readState(setup: PaymentMethodSetup): Promise<ProviderSetupState> {
    const state = await this.gateway.readSetup(setup);
    if (state.kind === 'missing' && isAbandoned(setup, this.clock.now()))
      return { kind: 'canceled' };
    const hasExpired = state.kind === 'waiting' && isOverdue(setup, this.clock.now());
    return hasExpired ? this.gateway.cancelSetup(setup) : state;
  }

  /**
   * Locks and returns a pending setup; null if the setup has ended or does not exist. The caller must have locked the
   * customer in the same transaction.
   */
  async lockPending(id: string): Promise<PaymentMethodSetup | null> {
    const setup = await this.setups.lock(id);
    return setup === null || isSetupEnded(setup) ? null : setup;
  }

  /**
   * Stores the state that the provider reported for a locked setup, and records an event if the setup changed.
   * @param paymentMethodId id of the stored method if the setup succeeded; otherwise null
   */
  async recordState(
    before: PaymentMethodSetup,
    state: ProviderSetupState,
    paymentMethodId: string | null,
  ): Promise<void> {
    const now = this.clock.now();
    const after = applyProviderState(before, state, paymentMethodId, now);
    await this.setups.update(after);
    if (after.version === before.version) return;
    const event = after.status === 'pending' ? setupUpdated : SETUP_EVENTS[after.status];
    await this.outbox.recordChange(event, { after, before }, now);
  }
}
