import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Configuration } from '../../../platform/config';
import { Database } from '../../../platform/database';
import type { Payment } from '../domain/payment';
import {
  type ClientAction,
  type DetachOutcome,
  type ProviderDisputeState,
  type UnrecordedChargeState,
  type UnrecordedRefundState,
  METHOD_UNUSABLE,
  type PaymentProvider,
  type PreparingProvider,
  type ProviderName,
  type ProviderOutcome,
  type ProviderSetupState,
  type UnknownOutcome,
  withoutCharge,
} from '../domain/payment-provider';
import { paymentProviderNotEnabled, paymentProviderUnavailable } from '../payments.errors';
import { ManualProvider } from './manual.provider';
import { chargeRequest, PreparedCharges } from './prepared-charges';
import {
  directRefundKey,
  type ProviderRefundState,
  type RequestedRefund,
  type ResumedRefund,
  refundRequest,
  resumePreparedRefund,
} from './requested-refund';
import { SandboxProvider } from './sandbox.provider';
import { StripeProvider } from './stripe/stripe.provider';
import { withDeadline } from './with-deadline';

const UNKNOWN: UnknownOutcome = { kind: 'unknown' };

interface BegunSetup {
  readonly provider: ProviderName;
  readonly providerReference: string;
}

const directKey = (paymentId: string): string => `charge:${paymentId}`;

/**
 * Calls providers, never inside a transaction. Requests that move money have an idempotency key that contains our id of
 * the payment or refund. The outcome is `unknown`, not `failed`, if a call throws or exceeds the time limit, or if the
 * provider is not enabled.
 */
@Injectable()
export class ProviderGateway {
  private readonly logger = new Logger('payment-provider');
  private readonly providers: Readonly<Record<ProviderName, PaymentProvider>>;

  constructor(
    private readonly database: Database,
    private readonly sandbox: SandboxProvider,
    manual: ManualProvider,
    stripe: StripeProvider,
    private readonly preparedCharges: PreparedCharges,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
  ) {
    this.providers = { sandbox, manual, stripe };
  }

  isEnabled(provider: ProviderName): boolean {
    return this.configuration.paymentProviders.includes(provider);
  }

  /** @throws {ProblemError} `payment_provider_not_enabled` */
  requireEnabled(provider: ProviderName): void {
    if (!this.isEnabled(provider)) throw paymentProviderNotEnabled(provider);
  }

  accepts(provider: ProviderName, token: string | null): boolean {
    return this.providers[provider].accepts(token);
  }

  /** Returns null if the provider is not a {@link PreparingProvider}. */
  preparingProvider(name: ProviderName): PreparingProvider | null {
    const provider = this.providers[name];
    return provider.flow === 'prepared' ? provider : null;
  }

  /**
   * Charges a payment that was not sent to the provider before. An automatic charge of an unusable method fails without
   * a request.
   */
  async charge(payment: Payment): Promise<ProviderOutcome> {
    if (await this.preparedCharges.isMethodUnusable(payment)) return withoutCharge(METHOD_UNUSABLE);
    return this.call(payment.provider, (provider) =>
      provider.flow === 'direct'
        ? provider.charge(chargeRequest(payment, directKey(payment.id)))
        : this.preparedCharges.charge(provider, payment),
    );
  }

  /** Returns the state of a charge from the provider. Sends the charge again if the provider never received it. */
  resumeCharge(payment: Payment): Promise<ProviderOutcome> {
    return this.call(payment.provider, (provider) =>
      provider.flow === 'direct'
        ? provider.charge(chargeRequest(payment, directKey(payment.id)))
        : this.preparedCharges.resume(provider, payment),
    );
  }

  /**
   * Searches for the charge of a payment without a reference, and stores the reference. Sends no charge. Returns false if
   * the provider has no such charge or does not answer.
   */
  async restoreReference(payment: Payment): Promise<boolean> {
    const found = await this.call(payment.provider, async (provider) =>
      provider.flow === 'direct' ? null : this.preparedCharges.restoreReference(provider, payment),
    );
    return typeof found === 'string';
  }

  /** @throws {ProblemError} `payment_provider_unavailable` */
  async clientAction({ provider, providerReference }: Payment): Promise<ClientAction | null> {
    if (providerReference === null) return null;
    return this.action(provider, (preparingProvider) =>
      preparingProvider.clientAction(providerReference),
    );
  }

  /** @throws {ProblemError} `payment_provider_unavailable` */
  setupAction({ provider, providerReference }: BegunSetup): Promise<ClientAction | null> {
    return this.action(provider, (preparingProvider) =>
      preparingProvider.setupAction(providerReference),
    );
  }

  private async action(
    name: ProviderName,
    ask: (provider: PreparingProvider) => Promise<ClientAction | null>,
  ): Promise<ClientAction | null> {
    const provider = this.preparingProvider(name);
    if (provider === null) return null;
    this.database.refuseTransaction('A call to a payment provider');
    if (!this.isEnabled(name)) throw paymentProviderUnavailable(name);
    try {
      return await withDeadline(ask(provider));
    } catch (error) {
      this.logger.error({ err: error, provider: name }, 'a provider gave no answer');
      throw paymentProviderUnavailable(name);
    }
  }

  refund(payment: Payment, refund: RequestedRefund): Promise<ProviderOutcome> {
    return this.call(payment.provider, (provider) =>
      provider.refund(refundRequest(payment, refund, provider.flow)),
    );
  }

  resumeRefund(payment: Payment, refund: ResumedRefund): Promise<ProviderRefundState> {
    return this.call(payment.provider, (provider) =>
      provider.flow === 'direct'
        ? provider.refund(refundRequest(payment, refund, provider.flow))
        : resumePreparedRefund(provider, payment, refund, this.clock.now()),
    );
  }

  /**
   * Returns the present state of a refund that was reported as succeeded. With a `DirectProvider`, this is always
   * `succeeded`, because such a provider never changes an outcome.
   */
  readSucceededRefund(name: ProviderName, reference: string): Promise<ProviderOutcome> {
    return this.call<ProviderOutcome>(name, async (provider) =>
      provider.flow === 'direct'
        ? { kind: 'succeeded', reference }
        : provider.retrieveRefund(reference),
    );
  }

  readUnrecordedCharge(name: ProviderName, reference: string): Promise<UnrecordedChargeState> {
    return this.call<UnrecordedChargeState>(name, async (provider) =>
      provider.flow === 'direct'
        ? { kind: 'not_ours' }
        : provider.retrieveUnrecordedCharge(reference),
    );
  }

  readUnrecordedRefund(name: ProviderName, reference: string): Promise<UnrecordedRefundState> {
    return this.call<UnrecordedRefundState>(name, async (provider) =>
      provider.flow === 'direct'
        ? { kind: 'not_ours' }
        : provider.retrieveUnrecordedRefund(reference),
    );
  }

  detach(name: ProviderName, token: string): Promise<DetachOutcome> {
    return this.call<DetachOutcome>(name, async (provider) =>
      provider.flow === 'direct' ? { kind: 'detached' } : provider.detach(token),
    );
  }

  readSetup({ provider: name, providerReference }: BegunSetup): Promise<ProviderSetupState> {
    return this.call<ProviderSetupState>(name, async (provider) =>
      provider.flow === 'direct' ? UNKNOWN : provider.retrieveSetup(providerReference),
    );
  }

  cancelSetup({ provider: name, providerReference }: BegunSetup): Promise<ProviderSetupState> {
    return this.call<ProviderSetupState>(name, async (provider) =>
      provider.flow === 'direct' ? UNKNOWN : provider.cancelSetup(providerReference),
    );
  }

  readDispute(name: ProviderName, reference: string): Promise<ProviderDisputeState> {
    return this.call<ProviderDisputeState>(name, async (provider) =>
      provider.flow === 'direct' ? { kind: 'not_ours' } : provider.retrieveDispute(reference),
    );
  }

  /**
   * Sets the outcome of a charge in the sandbox. A null `failureCode` lets the charge succeed. Returns null if the
   * charge is not pending there.
   */
  settleSandboxCharge(id: string, failureCode: string | null): Promise<ProviderOutcome | null> {
    return this.sandbox.settle(directKey(id), failureCode);
  }

  /**
   * Sets the outcome of a refund in the sandbox. A null `failureCode` lets the refund succeed. Returns null if the
   * refund is not pending there.
   */
  settleSandboxRefund(id: string, failureCode: string | null): Promise<ProviderOutcome | null> {
    return this.sandbox.settle(directRefundKey(id), failureCode);
  }

  private async call<Answer>(
    name: ProviderName,
    ask: (provider: PaymentProvider) => Promise<Answer>,
  ): Promise<Answer | UnknownOutcome> {
    this.database.refuseTransaction('A call to a payment provider');
    if (!this.isEnabled(name)) {
      const message = 'a call to a provider is not made: PAYMENT_PROVIDERS does not name it';
      this.logger.warn({ provider: name }, message);
      return UNKNOWN;
    }
    try {
      return await withDeadline(ask(this.providers[name]));
    } catch (error) {
      this.logger.error({ err: error, provider: name }, 'a provider gave no answer');
      return UNKNOWN;
    }
  }
}
