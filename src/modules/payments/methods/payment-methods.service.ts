import { Injectable } from '@nestjs/common';
import { nextVersion } from '../../../core/next-version';
import { Clock } from '../../../platform/clock';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  type VersionCondition,
} from '../../../platform/database';
import { referenceNotFound, raise } from '../../../platform/errors';
import { Idempotency } from '../../../platform/idempotency';
import { isId, newId } from '../../../platform/ids';
import { Outbox } from '../../../platform/outbox';
import { CustomersService } from '../../customers';
import type { MethodChoice } from '../domain/payment';
import type { ProviderName } from '../domain/payment-provider';
import {
  paymentMethodNotAccepted,
  paymentMethodNotFound,
  paymentMethodRequired,
} from '../payments.errors';
import { ProviderGateway } from '../providers/provider-gateway';
import type { AttachedPaymentMethod, ChosenMethod, PaymentMethod } from './domain/payment-method';
import {
  paymentMethodAnswer,
  paymentMethodCreated,
  paymentMethodDeleted,
  paymentMethodUpdated,
} from './payment-methods.events';
import { PaymentMethodsRepository } from './payment-methods.repository';

const METHOD_POINTER = '/payment_method_id';

@Injectable()
export class PaymentMethodsService {
  constructor(
    private readonly database: Database,
    private readonly methods: PaymentMethodsRepository,
    private readonly customers: CustomersService,
    private readonly gateway: ProviderGateway,
    private readonly idempotency: Idempotency,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores a payment method, claims the idempotency key of the request, and stores the answer. If `isDefault` is null,
   * the method becomes the default only if the customer has no usable default.
   * @throws {ProblemError} `customer_not_found`, `payment_provider_not_enabled`, `payment_method_not_accepted`
   */
  create(
    customerId: string,
    { isDefault, ...attached }: AttachedPaymentMethod,
  ): Promise<PaymentMethod> {
    const { provider, token } = attached;
    return this.database.transaction(async () => {
      const id = newId('pm');
      await this.idempotency.claimFor(id);
      const customer = await this.customers.lockForChange(customerId);
      this.gateway.requireEnabled(provider);
      const isKept = this.gateway.preparingProvider(provider) !== null;
      const isAccepted = isKept
        ? !(await this.isTokenDeleted({ customerId, provider, token }))
        : this.gateway.accepts(provider, token);
      if (!isAccepted) throw paymentMethodNotAccepted(provider, '/token');
      const now = await this.customers.currentTimeOf(customer);
      const before = await this.methods.lockDefault(customerId);
      const method: PaymentMethod = {
        ...attached,
        id,
        version: 1,
        customerId,
        isDefault: isDefault ?? before?.unusableSince !== null,
        unusableSince: null,
        unusableReason: null,
        deletedAt: null,
        dueAt: null,
        leasedBy: null,
        attempts: 0,
        createdAt: now,
        updatedAt: now,
      };
      if (method.isDefault && before !== null) await this.setDefault(before, false, now);
      await this.methods.insert(method);
      await this.outbox.record(paymentMethodCreated, { after: method, occurredAt: now });
      await this.idempotency.completeFor(id, paymentMethodAnswer(method));
      return method;
    });
  }

  /**
   * Returns true if the customer had at least one method with this token, and all such methods are deleted. Such a
   * token must not be stored again: the provider detaches the token of a deleted method permanently.
   */
  isTokenDeleted(
    method: Pick<PaymentMethod, 'customerId' | 'provider' | 'token'>,
  ): Promise<boolean> {
    return this.methods.isTokenDeleted(method);
  }

  /** @throws {ProblemError} `customer_not_found`, `payment_method_not_found` */
  async get(customerId: string, id: string): Promise<PaymentMethod> {
    await this.customers.get(customerId);
    return (await this.methods.find(customerId, id)) ?? raise(paymentMethodNotFound(id));
  }

  /** @throws {ProblemError} `customer_not_found` */
  async list(customerId: string, request: PageRequest): Promise<Page<PaymentMethod>> {
    await this.customers.get(customerId);
    return this.methods.page(customerId, request);
  }

  /**
   * Sets or clears `isDefault` of a method. Setting it clears `isDefault` of the customer's former default. A no-op
   * writes nothing and records no event.
   * @param isDefault undefined: changes nothing
   * @throws {ProblemError} `customer_not_found`, `payment_method_not_found`, `precondition_failed`
   */
  update(
    customerId: string,
    id: string,
    isDefault: boolean | undefined,
    expected: VersionCondition,
  ): Promise<{ readonly before: PaymentMethod; readonly after: PaymentMethod }> {
    return this.database.transaction(async () => {
      const customer = await this.customers.lockForChange(customerId);
      const before = await this.lock(customerId, id);
      assertVersion(expected, before);
      if (isDefault === undefined || isDefault === before.isDefault) {
        return { before, after: before };
      }
      const now = await this.customers.currentTimeOf(customer);
      const former = isDefault ? await this.methods.lockDefault(customerId) : null;
      if (former !== null) await this.setDefault(former, false, now);
      return { before, after: await this.setDefault(before, isDefault, now) };
    });
  }

  /**
   * Deletes a method. If the method was the default, the customer has no default afterwards. If the provider keeps
   * methods, background work then detaches the method there.
   * @throws {ProblemError} `customer_not_found`, `payment_method_not_found`, `precondition_failed`
   */
  delete(customerId: string, id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const customer = await this.customers.lockForChange(customerId);
      const before = await this.lock(customerId, id);
      assertVersion(expected, before);
      const now = await this.customers.currentTimeOf(customer);
      const isKept = this.gateway.preparingProvider(before.provider) !== null;
      const after = nextVersion(before, now, {
        deletedAt: now,
        dueAt: isKept ? this.clock.now() : null,
      });
      await this.methods.update(after);
      await this.outbox.recordChange(paymentMethodDeleted, { after, before }, now);
    });
  }

  /**
   * Returns the method that a payment charges. The request may name a method of the customer, or a token of the
   * provider. If the request names neither a method nor a provider, returns the customer's default.
   * @param fallback provider to charge if the request names nothing and the customer has no default. Null or not
   *   enabled: `payment_method_required` is thrown instead
   * @throws {ProblemError} `reference_not_found`, `payment_method_not_accepted`, `payment_method_required`,
   *   `payment_provider_not_enabled`
   */
  async choose(
    customerId: string,
    choice: MethodChoice,
    fallback: ProviderName | null = null,
  ): Promise<ChosenMethod> {
    const method = await this.chooseAny(customerId, choice, fallback);
    this.gateway.requireEnabled(method.provider);
    return method;
  }

  /** Returns the default methods by customer id. Customers without a default method are absent. */
  async findDefaultMethods(
    customerIds: readonly string[],
  ): Promise<ReadonlyMap<string, ChosenMethod>> {
    const methods = await this.methods.findDefaults(customerIds);
    return new Map(methods.map((method) => [method.customerId, chosen(method)]));
  }

  private async chooseAny(
    customerId: string,
    { provider, paymentMethodId }: MethodChoice,
    fallback: ProviderName | null,
  ): Promise<ChosenMethod> {
    if (paymentMethodId !== null && isId('pm', paymentMethodId)) {
      const method =
        (await this.methods.find(customerId, paymentMethodId)) ??
        raise(referenceNotFound('/payment_method_id', paymentMethodId));
      if (provider !== null && provider !== method.provider)
        throw paymentMethodNotAccepted(provider, METHOD_POINTER);
      return chosen(method);
    }
    if (provider === null && paymentMethodId === null) {
      const kept = (await this.findDefaultMethods([customerId])).get(customerId);
      if (kept !== undefined) return kept;
      if (fallback === null || !this.gateway.isEnabled(fallback))
        throw paymentMethodRequired(customerId);
      return { provider: fallback, paymentMethodId, providerToken: null };
    }
    // A request without a provider can name only a sandbox token.
    const charging = provider ?? 'sandbox';
    if (!this.gateway.accepts(charging, paymentMethodId)) {
      if (paymentMethodId !== null && provider === null && !this.gateway.isEnabled(charging))
        throw referenceNotFound(METHOD_POINTER, paymentMethodId);
      throw paymentMethodNotAccepted(charging, METHOD_POINTER);
    }
    return { provider: charging, paymentMethodId, providerToken: paymentMethodId };
  }

  /**
   * Locks and returns a method. A lock on the customer is not enough, because a payment can make the method unusable
   * without locking the customer.
   */
  private async lock(customerId: string, id: string): Promise<PaymentMethod> {
    const method = await this.methods.lock(id);
    return method?.customerId === customerId ? method : raise(paymentMethodNotFound(id));
  }

  private async setDefault(
    before: PaymentMethod,
    isDefault: boolean,
    now: Date,
  ): Promise<PaymentMethod> {
    const after = nextVersion(before, now, { isDefault });
    await this.methods.update(after);
    await this.outbox.recordChange(paymentMethodUpdated, { after, before }, now);
    return after;
  }
}

function chosen({ id, provider, token }: PaymentMethod): ChosenMethod {
  return { provider, paymentMethodId: id, providerToken: token };
}
