import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { CustomersService } from '../../customers';
import type { PreparingProvider } from '../domain/payment-provider';
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
    const chargeable = await this.requireChargeable(provider, customerId);
    if (!provider.isMethodToken(method.token)) {
      throw paymentMethodNotAccepted(provider.name, '/token');
    }
    const customerReference = await this.customerReference(provider, chargeable);
    const outcome = await provider.attach(method.token, customerReference);
    switch (outcome.kind) {
      case 'attached':
        return { ...method, token: outcome.token, ...outcome.details };
      case 'refused':
        throw paymentMethodNotAccepted(provider.name, '/token');
      case 'not_sent':
      case 'unknown':
        throw paymentProviderUnavailable(provider.name);
    }
  }

  /**
   * Returns the provider's id of a customer. Creates the customer at the provider if needed.
   * @throws {ProblemError} `customer_not_found`, `payment_provider_not_enabled`, `test_clock_not_chargeable`,
   *   `payment_provider_unavailable`
   */
  async referenceOf(provider: PreparingProvider, customerId: string): Promise<string> {
    return this.customerReference(provider, await this.requireChargeable(provider, customerId));
  }

  private async requireChargeable(
    provider: PreparingProvider,
    customerId: string,
  ): Promise<string> {
    const { id, testClockId } = await this.customers.get(customerId);
    this.gateway.requireEnabled(provider.name);
    if (testClockId !== null && !provider.chargesTestClocks) throw testClockNotChargeable(id);
    return id;
  }

  private async customerReference(
    provider: PreparingProvider,
    customerId: string,
  ): Promise<string> {
    const known = await this.providerCustomers.find(customerId, provider.name);
    if (known !== null) return known;
    const made = await provider.createCustomer(customerId);
    if (made === null) throw paymentProviderUnavailable(provider.name);
    return this.providerCustomers.insertIfNone(customerId, provider.name, made, this.clock.now());
  }
}
