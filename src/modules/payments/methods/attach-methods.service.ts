import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { CustomersService } from '../../customers';
import type {
  AttachOutcome,
  BeginSetupOutcome,
  PreparingProvider,
  SetupRequest,
} from '../domain/payment-provider';
import {
  paymentMethodNotAccepted,
  paymentProviderUnavailable,
  testClockNotChargeable,
} from '../payments.errors';
import { ProviderCustomersRepository } from '../providers/provider-customers.repository';
import { ProviderGateway } from '../providers/provider-gateway';
import type { AttachedPaymentMethod, NewPaymentMethod } from './domain/payment-method';

const NO_DETAILS = { brand: null, last4: null, expiryMonth: null, expiryYear: null } as const;

/** Attaches payment methods to customers at providers that keep payment methods. */
@Injectable()
export class AttachMethodsService {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly gateway: ProviderGateway,
    private readonly providerCustomers: ProviderCustomersRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Attaches a payment method at the provider, if the provider keeps methods. Returns the method with the provider's id
   * and details. A repeated call has no further effect.
   * @throws {ProblemError} `customer_not_found`, `payment_provider_not_enabled`, `payment_method_not_accepted`,
   *   `test_clock_not_chargeable`, `payment_provider_unavailable`
   */
  async attach(customerId: string, method: NewPaymentMethod): Promise<AttachedPaymentMethod> {
    const provider = this.gateway.preparingProvider(method.provider);
    if (provider === null) return { ...method, ...NO_DETAILS };
    this.database.refuseTransaction('Attaching a payment method');
    await this.requireChargeable(provider, customerId);
    if (!provider.isMethodToken(method.token)) {
      throw paymentMethodNotAccepted(provider.name, '/token');
    }
    const outcome = await this.sendForCustomer(provider, customerId, (customerReference) =>
      provider.attach(method.token, customerReference),
    );
    switch (outcome.kind) {
      case 'attached':
        return { ...method, token: outcome.token, ...outcome.details };
      case 'refused':
        throw paymentMethodNotAccepted(provider.name, '/token');
      case 'customer_missing':
      case 'not_sent':
      case 'unknown':
        throw paymentProviderUnavailable(provider.name);
    }
  }

  /**
   * Begins the setup of a payment method at the provider. Returns the provider's id of the setup.
   * @throws {ProblemError} `customer_not_found`, `payment_provider_not_enabled`, `test_clock_not_chargeable`,
   *   `payment_provider_unavailable`
   */
  async beginSetup(
    provider: PreparingProvider,
    setup: Omit<SetupRequest, 'customerReference'>,
  ): Promise<string> {
    await this.requireChargeable(provider, setup.customerId);
    const outcome = await this.sendForCustomer(provider, setup.customerId, (customerReference) =>
      provider.beginSetup({ ...setup, customerReference }),
    );
    if (outcome.kind !== 'begun') throw paymentProviderUnavailable(provider.name);
    return outcome.reference;
  }

  private async requireChargeable(provider: PreparingProvider, customerId: string): Promise<void> {
    const { id, testClockId } = await this.customers.get(customerId);
    this.gateway.requireEnabled(provider.name);
    if (testClockId !== null && !provider.chargesTestClocks) throw testClockNotChargeable(id);
  }

  /**
   * Sends a request about a customer at the provider. Creates the customer there first, if no id of the customer is
   * stored. If the customer was deleted at the provider, creates a new one and sends the request once more.
   */
  private async sendForCustomer<Outcome extends AttachOutcome | BeginSetupOutcome>(
    provider: PreparingProvider,
    customerId: string,
    send: (customerReference: string) => Promise<Outcome>,
  ): Promise<Outcome> {
    const reference = await this.customerReference(provider, customerId, null);
    const outcome = await send(reference);
    if (outcome.kind !== 'customer_missing') return outcome;
    return send(await this.customerReference(provider, customerId, reference));
  }

  /**
   * Returns the provider's id of a customer. Creates the customer at the provider if no id is stored, or if the stored
   * id is `missing`.
   * @param missing id of a customer that was deleted at the provider; null: none
   */
  private async customerReference(
    provider: PreparingProvider,
    customerId: string,
    missing: string | null,
  ): Promise<string> {
    const known = await this.providerCustomers.find(customerId, provider.name);
    if (known !== null && known !== missing) return known;
    const reference = await provider.createCustomer(customerId);
    if (reference === null) throw paymentProviderUnavailable(provider.name);
    const created = { reference, missing };
    return this.providerCustomers.store(customerId, provider.name, created, this.clock.now());
  }
}
